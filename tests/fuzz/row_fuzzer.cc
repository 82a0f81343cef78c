// Any lines of text through the parsers of sparse rows. A line must become a row that keeps the
// promises of row.h and row_parser.h, or be refused and leave no trace.
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "data/sparse/row_parser.h"
#include "fuzz/fuzz_target.h"

namespace paceline {
namespace row_fuzzer {

void check_numbers(const RowView& row, RowTarget target) {
  const auto usual = [](float x) { return std::isfinite(x) && std::abs(x) <= kLargestValue; };
  require(target == RowTarget::kNumber ? usual(row.label) : row.label == 0 || row.label == 1);
  for (const float value : row.values) require(usual(value) && value != 0);
}

void check_keys(const RowView& row, Key constant) {
  std::vector<Key> keys(row.keys.begin(), row.keys.end());
  std::sort(keys.begin(), keys.end());
  require(std::adjacent_find(keys.begin(), keys.end()) == keys.end());
  require(!keys.empty() && keys.back() == constant);
  const auto at = std::find(row.keys.begin(), row.keys.end(), constant) - row.keys.begin();
  require(row.value(static_cast<std::size_t>(at)) == 1);
}

// Parses a line from memory of its own, so that reading behind its end is noticed.
void parse(const RowParser& parser, std::string_view text, RowTarget target, RowBuffer& rows) {
  const std::vector<char> line(text.begin(), text.end());
  const RowBuffer before = rows;
  if (parser.parse({line.data(), line.size()}, rows) != nullptr) {
    require(rows.words == before.words && rows.starts == before.starts);
    return;
  }
  const std::size_t start = before.words.size();
  require(rows.starts.size() == before.starts.size() + 1 && rows.starts.back() == start);
  require(std::equal(before.words.begin(), before.words.end(), rows.words.begin()));
  require(rows.words.size() >= start + kRowHead);
  const RowView row = row_at(rows.words.data() + start);
  require(row.values.size() <= row.keys.size());
  require(rows.words.size() == start + row_words(row.keys.size(), row.values.size()));
  check_numbers(row, target);
  check_keys(row, parser.constant());
}

// A line of LIBSVM's format is cut at its separators when it is plain, and read with care when it
// is not, as one with a comment is: both must come to the same.
void compare_ways(const RowParser& parser, std::string_view text) {
  RowBuffer plain;
  RowBuffer careful;
  const bool row = parser.parse(text, plain) == nullptr;
  const bool same = parser.parse(std::string(text) + " #", careful) == nullptr;
  require(row == same && plain.words == careful.words);
}

// The first byte chooses format and target, the second the bits; the rest are lines.
void run(FuzzBytes bytes) {
  const std::uint8_t choice = take_byte(bytes);
  const std::uint8_t bits = take_byte(bytes);
  std::string_view text = as_text(bytes);
  RowFormatOptions options{.format = static_cast<RowFormat>(choice % 4),
                           .target = choice / 4 % 2 == 0 ? RowTarget::kClass : RowTarget::kNumber,
                           .bits = 1 + bits % kMostBits};
  if (options.format == RowFormat::kAuto) {
    options.format = guess_format(text.substr(0, text.find('\n')));
  }
  const RowParser parser(options);
  RowBuffer rows;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    parse(parser, line, options.target, rows);
    if (options.format == RowFormat::kLibsvm) compare_ways(parser, line);
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
}

}  // namespace row_fuzzer

const FuzzTarget kRowFuzzer{"row", row_fuzzer::run};

}  // namespace paceline
