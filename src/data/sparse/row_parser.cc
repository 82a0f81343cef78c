#include "data/sparse/row_parser.h"

#include <xxhash.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "data/sparse/numbers.h"
#include "data/sparse/separators.h"

namespace paceline {
namespace {

constexpr std::size_t kCriteoNumbers = 13;
constexpr std::size_t kCriteoWords = 26;

constexpr const char* kNoLabel = "it does not begin with a label";
constexpr const char* kNotForty = "expected 40 columns, separated by tabs";

// Their memory is kept from line to line.
struct Scratch {
  RowBuilder row;
  Separators separators;
};
Scratch& scratch() {
  thread_local Scratch mine;
  return mine;
}

// Whether all of the characters [begin, end) of a line are a number; they may be anything.
bool is_number(std::string_view line, std::size_t begin, std::size_t end, float& number) {
  const std::size_t count = end - begin;
  if (count - 1 < 8 && end >= 8 && read_short(line.data() + end, count, number)) return true;
  Cursor cursor(line.substr(begin, count));
  return read_number(cursor, number) && cursor.over();
}

// The same for a value that a feature can have; most are a single digit.
[[gnu::always_inline]] inline bool is_value(std::string_view line, std::size_t begin,
                                            std::size_t end, float& number) {
  if (end - begin == 1 && is_digit(line[begin])) {
    number = static_cast<float>(line[begin] - '0');
    return true;
  }
  return is_number(line, begin, end, number) && wrong_value(number) == nullptr;
}

[[gnu::always_inline]] inline bool is_index(std::string_view line, std::size_t begin,
                                            std::size_t end, std::uint64_t& index) {
  const std::size_t count = end - begin;
  if (count - 1 < 8 && end >= 8) return read_short_index(line.data() + end, count, index);
  Cursor cursor(line.substr(begin, count));
  return read_index(cursor, index) && cursor.over();
}

}  // namespace

RowFormat guess_format(std::string_view line) {
  if (line.find('|') != std::string_view::npos) return RowFormat::kVw;
  if (std::count(line.begin(), line.end(), '\t') ==
      static_cast<std::ptrdiff_t>(kCriteoNumbers + kCriteoWords)) {
    return RowFormat::kCriteo;
  }
  Cursor cursor(line);
  float label = 0;
  cursor.skip_blanks();
  if (!read_number(cursor, label)) return RowFormat::kAuto;
  cursor.skip_blanks();
  std::uint64_t index = 0;
  const bool pairs =
      cursor.over() || (read_index(cursor, index) && !cursor.over() && *cursor.at == ':');
  return pairs ? RowFormat::kLibsvm : RowFormat::kAuto;
}

std::string name_of(RowFormat format) {
  switch (format) {
    case RowFormat::kLibsvm:
      return "libsvm";
    case RowFormat::kCriteo:
      return "criteo";
    case RowFormat::kVw:
      return "vw";
    case RowFormat::kAuto:
      break;
  }
  return "auto";
}

RowParser::RowParser(const RowFormatOptions& options) : options_(options) {
  for (std::size_t i = 0; i < field_seeds_.size(); ++i) field_seeds_[i] = mix(i + 1);
}

const char* RowParser::parse(std::string_view line, RowBuffer& rows) const {
  RowBuilder& row = scratch().row;
  row.begin(line.size());
  const char* wrong = options_.format == RowFormat::kVw       ? parse_vw(line, row)
                      : options_.format == RowFormat::kCriteo ? parse_criteo(line, row)
                                                              : parse_libsvm(line, row);
  if (wrong != nullptr) return wrong;
  row.add(constant());
  return row.append_to(rows);
}

const char* RowParser::label(float number, RowBuilder& row) const {
  if (options_.target == RowTarget::kNumber) {
    row.set_label(number);
    return wrong_value(number);
  }
  if (number != 1 && number != 0 && number != -1)
    return "the label is none of 0, 1 and -1 (for numbers: --model regression)";
  row.set_label(number > 0 ? 1.0F : 0.0F);
  return nullptr;
}

Key RowParser::key_of(std::uint64_t seed, std::string_view word) const {
  return static_cast<Key>(XXH3_64bits_withSeed(word.data(), word.size(), seed)) & (constant() - 1);
}

// A line that has nothing but LABEL INDEX:VALUE INDEX:VALUE …, with one blank between them, is cut
// at its separators. False: it must be read with more care, and `row` is as it was.
bool RowParser::parse_plain_libsvm(std::string_view line, RowBuilder& row) const {
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  const auto cuts = scratch().separators.find(line, {' ', ':', '\t'});
  float number = 0;
  if (cuts.empty() || cuts.size() % 2 != 0 || !is_number(line, 0, cuts[0], number) ||
      label(number, row) != nullptr) {
    return false;
  }
  const Key most = constant();
  for (std::size_t i = 0; i < cuts.size(); i += 2) {
    const std::size_t blank = cuts[i];
    const std::size_t colon = cuts[i + 1];
    const std::size_t end = i + 2 < cuts.size() ? cuts[i + 2] : line.size();
    std::uint64_t index = 0;
    if (line[blank] == ':' || line[colon] != ':' || !is_index(line, blank + 1, colon, index) ||
        index >= most || !is_value(line, colon + 1, end, number)) {
      row.begin(line.size());
      return false;
    }
    row.add(static_cast<Key>(index), number);
  }
  return true;
}

const char* RowParser::parse_libsvm(std::string_view line, RowBuilder& row) const {
  if (parse_plain_libsvm(line, row)) return nullptr;
  Cursor cursor(line);
  float number = 0;
  cursor.skip_blanks();
  if (!read_number(cursor, number)) return kNoLabel;
  if (const char* wrong = label(number, row)) return wrong;
  while (true) {
    cursor.skip_blanks();
    if (cursor.over() || *cursor.at == '#') return nullptr;
    std::uint64_t index = 0;
    if (!read_index(cursor, index) || cursor.over() || *cursor.at != ':') {
      return "expected INDEX:VALUE";
    }
    if (index >= constant()) return "an index is too large: raise --bits";
    ++cursor.at;
    if (!read_number(cursor, number) || !(cursor.over() || is_blank(*cursor.at))) {
      return "expected a number behind ':'";
    }
    if (const char* wrong = wrong_value(number)) return wrong;
    row.add(static_cast<Key>(index), number);
  }
}

const char* RowParser::parse_criteo(std::string_view line, RowBuilder& row) const {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  const auto tabs = scratch().separators.find(line, {'\t', '\t', '\t'});
  float number = 0;
  if (tabs.empty()) return kNotForty;
  if (!is_number(line, 0, tabs[0], number)) return kNoLabel;
  if (const char* wrong = label(number, row)) return wrong;
  if (tabs.size() != kCriteoNumbers + kCriteoWords) return kNotForty;
  for (std::size_t field = 0; field < tabs.size(); ++field) {
    const std::size_t begin = tabs[field] + 1;
    const std::size_t end = field + 1 < tabs.size() ? tabs[field + 1] : line.size();
    if (begin == end) continue;  // missing
    if (field < kCriteoNumbers) {
      if (!is_number(line, begin, end, number)) return "one of the columns 2 to 14 is no number";
      if (const char* wrong = wrong_value(number)) return wrong;
      row.add(key_of(field_seeds_[field], {}), std::copysign(std::log1p(std::abs(number)), number));
    } else {
      row.add(key_of(field_seeds_[field], line.substr(begin, end - begin)));
    }
  }
  return nullptr;
}

const char* RowParser::parse_vw(std::string_view line, RowBuilder& row) const {
  Cursor cursor(line);
  float number = 0;
  cursor.skip_blanks();
  if (!read_number(cursor, number)) return kNoLabel;
  if (const char* wrong = label(number, row)) return wrong;
  cursor.skip_blanks();
  if (float weight = 0; read_number(cursor, weight)) {
    if (weight != 1) return "weights of examples are not supported";
    cursor.skip_blanks();
  }
  while (!cursor.over() && *cursor.at != '|') ++cursor.at;  // a tag
  if (cursor.over()) return "there is no '|'";
  while (!cursor.over()) {
    ++cursor.at;  // behind the bar: the namespace, if there is no blank
    std::uint64_t seed = 0;
    float scale = 1;
    if (!cursor.over() && !is_blank(*cursor.at)) {
      const char* begin = cursor.at;
      while (!cursor.over() && !is_blank(*cursor.at) && *cursor.at != ':') ++cursor.at;
      seed = XXH3_64bits(begin, static_cast<std::size_t>(cursor.at - begin));
      if (!cursor.over() && *cursor.at == ':' && (++cursor.at, !read_number(cursor, scale))) {
        return "expected a number behind ':'";
      }
    }
    for (cursor.skip_blanks(); !cursor.over() && *cursor.at != '|'; cursor.skip_blanks()) {
      const char* begin = cursor.at;
      while (!cursor.over() && !is_blank(*cursor.at) && *cursor.at != ':' && *cursor.at != '|') {
        ++cursor.at;
      }
      const Key key = key_of(seed, {begin, static_cast<std::size_t>(cursor.at - begin)});
      number = 1;
      if (!cursor.over() && *cursor.at == ':' && (++cursor.at, !read_number(cursor, number))) {
        return "expected a number behind ':'";
      }
      if (const char* wrong = wrong_value(number * scale)) return wrong;
      row.add(key, number * scale);
    }
  }
  return nullptr;
}

}  // namespace paceline
