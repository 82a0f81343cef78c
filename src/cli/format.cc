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

constexpr std::size_t kGap = 2;  // before every column

using Rows = std::vector<std::vector<std::string>>;

struct Column {
  std::size_t width = 0;
  bool right = false;  // it has numbers
};

bool is_number_text(const std::string& text) {
  const std::string_view word = std::string_view(text).substr(0, text.find(' '));
  return !word.empty() && word.find_first_not_of("0123456789.,-+e") == std::string_view::npos;
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
  if (!std::isfinite(value) || key.ends_with("loss") || key.ends_with("rmse"))
    return format_loss(value);
  if (key.ends_with("accuracy") || key == "share_of_ceiling")
    return fmt::format("{:.2f} %", value * 100);
  if (key.ends_with("_per_second")) return format_rate(value);
  if (key.ends_with("seconds")) return format_duration(from_seconds(value));
  return fmt::format("{:.4g}", value);
}

// JSON objects have no order of their own: what matters most comes first, then the rest
// by name.
std::vector<std::string> by_importance(std::set<std::string> keys) {
  constexpr const char* kFirst[] = {// clang-format off
      "name", "count", "each_bytes",
      "test_accuracy", "accuracy", "test_auc", "auc", "test_rmse", "rmse",
      "test_loss", "train_loss", "loss",
      "version", "epoch", "step", "parameters", "memory_bytes", "memory_bytes_are",
      "examples", "epochs", "data",
      "steps", "steps_per_epoch", "tiles_per_step",
      "step_bytes_per_worker", "step_rows_per_worker", "step_bytes_are",
      "train_seconds", "examples_per_second", "seconds", "workers", "servers",
      "cpu_seconds", "peak_rss_bytes", "bytes_in", "bytes_out",
      "step_seconds", "data_seconds", "forward_seconds", "backward_seconds", "exchange_seconds",
      "waiting_seconds"};
  // clang-format on
  std::vector<std::string> ordered;
  for (const char* key : kFirst) {
    if (keys.erase(key) > 0) ordered.emplace_back(key);
  }
  ordered.insert(ordered.end(), keys.begin(), keys.end());
  return ordered;
}

// A single value, or a shape.
bool is_cell(const nlohmann::json& value) {
  return !value.is_structured() ||
         (value.is_array() && !value.empty() &&
          std::all_of(value.begin(), value.end(), [](const auto& one) { return one.is_number(); }));
}

std::vector<std::string> column_keys(const nlohmann::json& array) {
  std::set<std::string> keys;
  for (const auto& row : array) {
    for (const auto& [key, value] : row.items()) {
      if (is_cell(value)) keys.insert(key);
    }
  }
  // The first column tells the rows apart.
  const bool by_epoch = !keys.contains("name") && keys.erase("epoch") > 0;
  std::vector<std::string> ordered = by_importance(std::move(keys));
  if (by_epoch) ordered.insert(ordered.begin(), "epoch");
  return ordered;
}

std::string format_array(const std::string& title, const nlohmann::json& array, int columns) {
  const auto keys = column_keys(array);
  Rows rows(1);
  for (const auto& key : keys) rows[0].push_back(key == "name" ? title : heading(key));
  for (const auto& object : array) {
    std::vector<std::string> row;
    row.reserve(keys.size());
    for (const auto& key : keys) {
      row.push_back(object.contains(key) ? format_value(key, object[key]) : "");
    }
    rows.push_back(std::move(row));
  }
  return format_table(rows, columns);
}

std::string format_shape(const nlohmann::json& shape) {
  std::vector<std::string> lengths;
  for (const auto& length : shape) lengths.push_back(length.dump());
  return join(lengths, " × ");
}

bool is_table(const nlohmann::json& value) {
  return value.is_array() && !value.empty() &&
         std::all_of(value.begin(), value.end(), [](const auto& row) { return row.is_object(); });
}

std::vector<Column> measure(const Rows& rows) {
  std::vector<Column> columns;
  for (const auto& row : rows) {
    if (row.size() > columns.size()) columns.resize(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      columns[i].width = std::max(columns[i].width, display_width(row[i]));
      columns[i].right = columns[i].right || (i > 0 && is_number_text(row[i]));
    }
  }
  return columns;
}

// The columns in groups no wider than `room`, each led by the first one.
std::vector<std::vector<std::size_t>> bands(const std::vector<Column>& columns, std::size_t room) {
  const std::size_t lead = kGap + columns[0].width;
  std::vector<std::vector<std::size_t>> out = {{0}};
  std::size_t width = lead;
  for (std::size_t i = 1; i < columns.size(); ++i) {
    if (out.back().size() > 1 && width + kGap + columns[i].width > room) {
      out.push_back({0});
      width = lead;
    }
    out.back().push_back(i);
    width += kGap + columns[i].width;
  }
  return out;
}

// Those columns of a row that `band` lists.
std::string format_row(const std::vector<std::string>& row, const std::vector<Column>& columns,
                       const std::vector<std::size_t>& band) {
  std::string line;
  for (const std::size_t i : band) {
    if (i >= row.size()) continue;
    const std::string padding = spaces(columns[i].width - display_width(row[i]));
    line += spaces(kGap) + (columns[i].right ? padding + row[i] : row[i] + padding);
  }
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

struct Scalar {
  std::string name;
  std::string value;
  bool is_text = false;
};

// Numbers end in one column. A text that is longer than they are starts where the longest
// of them does, instead of pushing them all to the right; sentences are broken into lines.
std::string format_scalars(const std::vector<Scalar>& scalars, std::size_t columns) {
  std::size_t names = 0;
  std::size_t numbers = 0;
  for (const Scalar& scalar : scalars) {
    names = std::max(names, display_width(scalar.name));
    if (!scalar.is_text) numbers = std::max(numbers, display_width(scalar.value));
  }
  const std::size_t left = kGap + names + kGap;
  const std::size_t room = columns > left ? columns - left : 1;
  std::string out;
  for (const Scalar& scalar : scalars) {
    const std::size_t width = display_width(scalar.value);
    std::string margin = spaces(kGap) + scalar.name;
    margin += spaces(left - display_width(margin) + numbers - std::min(width, numbers));
    if (!scalar.is_text || width <= room) {
      out += margin + scalar.value + "\n";
      continue;
    }
    for (const std::string& line : wrap(scalar.value, room)) {
      out += std::exchange(margin, spaces(left)) + line + "\n";
    }
  }
  return out;
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
  if (is_cell(value) && value.is_array()) return format_shape(value);
  if (!value.is_number()) return value.dump();
  const bool whole = value.is_number_integer() && value >= 0;
  if (whole && key.find("bytes") != std::string_view::npos) {
    return format_bytes(value.get<std::uint64_t>());
  }
  const bool unitless = !key.ends_with("seconds") && !key.ends_with("_per_second");
  if (whole && unitless) return format_count(value.get<std::uint64_t>());
  return format_number_of(key, value.get<double>());
}

std::string clock_time(double seconds) {
  const auto total = std::max<std::int64_t>(0, std::llround(seconds));
  if (total < 3600) return fmt::format("{:02}:{:02}", total / 60, total % 60);
  return fmt::format("{}:{:02}:{:02}", total / 3600, total % 3600 / 60, total % 60);
}

std::string progress_bar(double done, std::size_t width, bool color) {
  const auto repeat = [](const char* text, std::size_t times) {
    std::string out;
    for (std::size_t i = 0; i < times; ++i) out += text;
    return out;
  };
  const auto filled = static_cast<std::size_t>(done * static_cast<double>(width));
  const std::string full = repeat("━", filled);
  return (color ? "\x1b[36m" + full + "\x1b[0m" : full) + repeat("─", width - filled);
}

std::string format_loss(double loss) {
  if (std::isnan(loss)) return "nan";  // whatever its sign
  return fmt::format("{:.4f}", loss);
}

std::string format_table(const Rows& rows, int columns) {
  const std::vector<Column> all = measure(rows);
  if (all.empty()) return "";
  std::string out;
  for (const auto& band : bands(all, static_cast<std::size_t>(columns))) {
    if (!out.empty()) out += "\n";
    for (const auto& row : rows) out += format_row(row, all, band);
  }
  return out;
}

std::string format_object(const nlohmann::json& object, int columns) {
  std::vector<Scalar> scalars;
  std::string tables;
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  for (const std::string& key : by_importance(std::move(keys))) {
    const auto& value = object[key];
    if (is_table(value)) {
      tables += "\n" + format_array(label(key), value, columns);
    } else if (is_cell(value)) {
      scalars.push_back({label(key), format_value(key, value), value.is_string()});
    }
  }
  return format_scalars(scalars, static_cast<std::size_t>(columns)) + tables;
}

}  // namespace paceline
