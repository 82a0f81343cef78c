#include "base/paths.h"

namespace paceline {

std::string source_path(const std::string& below) {
  return PACELINE_SOURCE_DIR "/" + below;
}

std::string program_path() {
  return PACELINE_PROGRAM;
}

}  // namespace paceline
