#include "cli/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/text.h"
#include "base/units.h"

namespace paceline {
namespace {

bool starts_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

std::string spaces(std::size_t count) {
  return std::string(count, ' ');
}

std::string label(std::string key) {
  std::replace(key.begin(), key.end(), '_', ' ');
  return key;
}

// Of a column: without the unit, which stands behind every value in it.
std::string heading(const std::string& key) {
  std::string text = label(key);
  for (const std::string_view unit : {" seconds", " bytes"}) {
    if (text.ends_with(unit)) text.resize(text.size() - unit.size());
  }
  return text;
}

std::string format_number_of(std::string_view key, double value) {
  if (!std::isfinite(value)) return fmt::format("{}", value);
  if (key.ends_with("accuracy")) return fmt::format("{:.2f} %", value * 100);
  if (key.ends_with("loss")) return fmt::format("{:.4f}", value);
  if (key.ends_with("_per_second")) return format_rate(value);
  if (key.ends_with("seconds")) return format_duration(from_seconds(value));
  return fmt::format("{:.4g}", value);
}

// JSON objects have no order of their own: what matters most comes first, then the rest
// by name.
std::vector<std::string> by_importance(std::set<std::string> keys) {
  constexpr const char* kFirst[] = {"name",
                                    "test_accuracy",
                                    "accuracy",
                                    "train_loss",
                                    "loss",
                                    "epoch",
                                    "step",
                                    "examples",
                                    "epochs",
                                    "train_seconds",
                                    "examples_per_second",
                                    "workers",
                                    "servers",
                                    "cpu_seconds",
                                    "peak_rss_bytes",
                                    "bytes_in",
                                    "bytes_out"};
  std::vector<std::string> ordered;
  for (const char* key : kFirst) {
    if (keys.erase(key) > 0) ordered.emplace_back(key);
  }
  ordered.insert(ordered.end(), keys.begin(), keys.end());
  return ordered;
}

std::vector<std::string> column_keys(const nlohmann::json& array) {
  std::set<std::string> keys;
  for (const auto& row : array) {
    for (const auto& [key, value] : row.items()) {
      if (!value.is_structured()) keys.insert(key);
    }
  }
  return by_importance(std::move(keys));
}

std::string format_array(const std::string& title, const nlohmann::json& array) {
  const auto keys = column_keys(array);
  std::vector<std::vector<std::string>> rows(1);
  for (const auto& key : keys) rows[0].push_back(key == "name" ? title : heading(key));
  for (const auto& object : array) {
    std::vector<std::string> row;
    row.reserve(keys.size());
    for (const auto& key : keys) {
      row.push_back(object.contains(key) ? format_value(key, object[key]) : "");
    }
    rows.push_back(std::move(row));
  }
  return format_table(rows);
}

bool is_table(const nlohmann::json& value) {
  return value.is_array() && !value.empty() &&
         std::all_of(value.begin(), value.end(), [](const auto& row) { return row.is_object(); });
}

}  // namespace

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::string shorten(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns) return std::string(text);
  if (columns == 0) return "";
  std::size_t characters = 0;
  std::size_t end = 0;
  while (end < text.size()) {
    if (starts_character(text[end]) && ++characters == columns) break;
    ++end;
  }
  return std::string(text.substr(0, end)) + "…";
}

std::vector<std::string> wrap(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines;
  for (const std::string& word : split(text, ' ')) {
    if (!lines.empty() && display_width(lines.back()) + 1 + display_width(word) <= columns) {
      lines.back() += ' ' + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

std::string format_value(std::string_view key, const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return "–";
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (!value.is_number()) return value.dump();
  const bool whole = value.is_number_integer() && value >= 0;
  if (whole && (key.ends_with("bytes") || key.starts_with("bytes"))) {
    return format_bytes(value.get<std::uint64_t>());
  }
  const bool unitless = !key.ends_with("seconds") && !key.ends_with("_per_second");
  if (whole && unitless) return format_count(value.get<std::uint64_t>());
  return format_number_of(key, value.get<double>());
}

std::string format_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding = spaces(widths[i] - display_width(row[i]));
      line += i == 0 ? "  " + row[i] + padding : "  " + padding + row[i];
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

std::string format_object(const nlohmann::json& object) {
  std::vector<std::vector<std::string>> scalars;
  std::string tables;
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  for (const std::string& key : by_importance(std::move(keys))) {
    const auto& value = object[key];
    if (is_table(value)) {
      tables += "\n" + format_array(label(key), value);
    } else if (!value.is_structured()) {
      scalars.push_back({label(key), format_value(key, value)});
    }
  }
  return format_table(scalars) + tables;
}

}  // namespace paceline
