// Values and tables as people read them in a terminal.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

// Columns that a text takes: one per character, however many bytes it has.
std::size_t display_width(std::string_view text);

// At most `columns` wide; what is cut off is replaced by "…".
std::string shorten(std::string_view text, std::size_t columns);

// Words broken into lines of at most `columns`; a longer word has a line of its own.
std::vector<std::string> wrap(std::string_view text, std::size_t columns);

// A value whose unit its key tells: *_seconds, *_bytes or bytes_*, *_per_second, *accuracy.
std::string format_value(std::string_view key, const nlohmann::json& value);

// Rows of equal length with aligned columns, the first to the left, the others to the
// right; each line ends with a newline.
std::string format_table(const std::vector<std::vector<std::string>>& rows);

// An object as a table of its scalars, one per line ("test accuracy   91.93 %"), followed
// by one table for each array of objects in it.
std::string format_object(const nlohmann::json& object);

}  // namespace paceline
