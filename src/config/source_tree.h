// Where this program was built from. Only the one source behind it knows a path of the machine, so
// that all others are compiled to the same in every clone, and come from the compiler's cache.
#pragma once

#include <filesystem>

namespace paceline {

std::filesystem::path recipes_of_source_tree();

}  // namespace paceline
