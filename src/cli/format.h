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

// A value whose unit its key tells: *_seconds, *bytes*, *_per_second, *accuracy. Absent
// (null) is "–"; a shape is "10 × 784".
std::string format_value(std::string_view key, const nlohmann::json& value);

// "01:05", "2:00:00".
std::string clock_time(double seconds);

// "━━━━────", of `width` columns.
std::string progress_bar(double done, std::size_t width, bool color);

// "0.2871"; "nan" or "inf" when it is not finite.
std::string format_loss(double loss);

// Rows of equal length with aligned columns: numbers to the right, texts and the first
// column to the left. What is wider than `columns` goes on below, the first column repeated.
// Each line ends with a newline.
std::string format_table(const std::vector<std::vector<std::string>>& rows, int columns);

// An object as a table of its scalars, one per line ("test accuracy   91.93 %"), followed
// by one table for each array of objects in it.
std::string format_object(const nlohmann::json& object, int columns);

}  // namespace paceline
