// Words that say nothing of what a review thinks.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace paceline {

// English ones, cleaned as texts are ("dont"), and those of the report: product, would, get.
const std::vector<std::string>& default_stop_words();

// One a line; what follows '#' is a comment. Throws DataError.
std::vector<std::string> read_stop_words(const std::filesystem::path& file);

}  // namespace paceline
