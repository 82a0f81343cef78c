#include "model/model.h"

namespace paceline {

const Layout& Model::frozen() const {
  static const Layout nothing;
  return nothing;
}

}  // namespace paceline
