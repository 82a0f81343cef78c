#include "config/source_tree.h"

namespace paceline {

std::filesystem::path recipes_of_source_tree() {
  return PACELINE_RECIPES_DIR;
}

}  // namespace paceline
