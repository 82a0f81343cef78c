// Where tests find the source tree and the program. Only the one source behind it knows paths of
// the machine: see src/config/source_tree.h.
#pragma once

#include <string>

namespace paceline {

std::string source_path(const std::string& below);  // e.g. "docs/metrics.md"
std::string program_path();

}  // namespace paceline
