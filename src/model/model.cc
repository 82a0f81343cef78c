#include "model/model.h"

namespace paceline {

const Layout& Model::frozen() const {
  static const Layout kNothing;
  return kNothing;
}

}  // namespace paceline
