#include "data/sparse/row_parser.h"

#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>

#include "base/random.h"

namespace paceline {
namespace {

constexpr std::size_t kCriteoNumbers = 13;
constexpr std::size_t kCriteoWords = 26;

constexpr const char* kNoLabel = "it does not begin with a label";
constexpr const char* kNotFinite = "a value is not finite";
constexpr const char* kHuge = "a value is larger than 1e18";

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}
bool is_digit(char c) {
  return static_cast<unsigned char>(c - '0') < 10;
}

// Walks through a line.
struct Cursor {
  const char* at;
  const char* end;

  explicit Cursor(std::string_view text) : at(text.data()), end(text.data() + text.size()) {}
  bool over() const { return at == end; }
  void skip_blanks() {
    while (at < end && is_blank(*at)) ++at;
  }
  // Up to one of the two, or to the end.
  std::string_view word(char stop, char other) {
    const char* begin = at;
    while (at < end && *at != stop && *at != other) ++at;
    return {begin, static_cast<std::size_t>(at - begin)};
  }
};

constexpr std::array<double, 23> kTens = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                          1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// What the quick way does not read: many digits, exponents, words like "inf".
bool slow_number(Cursor& cursor, float& number) {
  double value = 0;
  const bool plus = cursor.at < cursor.end && *cursor.at == '+';
  const char* begin = plus ? cursor.at + 1 : cursor.at;
  if (plus && begin < cursor.end && *begin == '-') return false;
  const auto [rest, error] = std::from_chars(begin, cursor.end, value);
  if (error == std::errc::invalid_argument) return false;
  cursor.at = rest;
  if (error == std::errc::result_out_of_range) {  // too large, or too small: then it is 0
    value = std::strtod(std::string(begin, rest).c_str(), nullptr);
  }
  number = static_cast<float>(value);
  return true;
}

// False when there is no number here.
bool read_number(Cursor& cursor, float& number) {
  const char* at = cursor.at;
  const char* const end = cursor.end;
  const bool negative = at < end && *at == '-';
  if (at < end && (*at == '-' || *at == '+')) ++at;
  const char* const begin = at;
  std::uint64_t digits = 0;
  while (at < end && is_digit(*at)) digits = digits * 10 + static_cast<std::uint64_t>(*at++ - '0');
  std::ptrdiff_t count = at - begin;
  std::ptrdiff_t fraction = 0;
  if (at < end && *at == '.') {
    const char* const point = at++;
    while (at < end && is_digit(*at))
      digits = digits * 10 + static_cast<std::uint64_t>(*at++ - '0');
    fraction = at - point - 1;
    count += fraction;
  }
  const bool exponent = at < end && (*at == 'e' || *at == 'E');
  if (count == 0 || count > 18 || exponent) return slow_number(cursor, number);
  const double value = static_cast<double>(digits) / kTens[static_cast<std::size_t>(fraction)];
  number = static_cast<float>(negative ? -value : value);
  cursor.at = at;
  return true;
}

// False when there is none, or it does not fit.
bool read_index(Cursor& cursor, std::uint64_t& index) {
  const char* const begin = cursor.at;
  index = 0;
  while (cursor.at < cursor.end && is_digit(*cursor.at)) {
    index = index * 10 + static_cast<std::uint64_t>(*cursor.at++ - '0');
  }
  const std::ptrdiff_t count = cursor.at - begin;
  return count > 0 && count <= 18;
}

const char* check(float value) {
  if (!std::isfinite(value)) return kNotFinite;
  return std::abs(value) > kLargestValue ? kHuge : nullptr;
}

}  // namespace

// Collects a row; memory is kept from line to line.
class RowParser::Row {
 public:
  void begin() {
    with_value_.clear();
    values_.clear();
    ones_.clear();
  }
  void set_label(float label) { label_ = label; }
  void add(Key key, float value) {
    if (value == 1) {
      ones_.push_back(key);
    } else if (value != 0) {
      with_value_.push_back(key);
      values_.push_back(value);
    }
  }
  void add(Key key) { ones_.push_back(key); }

  // A key that occurs twice has the sum of its values; returns what is wrong with one, or null.
  const char* append_to(RowBuffer& rows) {
    if (const char* wrong = each_once() ? nullptr : merge()) return wrong;
    rows.starts.push_back(rows.words.size());
    const std::size_t keys = with_value_.size() + ones_.size();
    rows.words.resize(rows.words.size() + row_words(keys, values_.size()));
    std::uint32_t* at = rows.words.data() + rows.starts.back();
    *at++ = std::bit_cast<std::uint32_t>(label_);
    *at++ = static_cast<std::uint32_t>(keys);
    *at++ = static_cast<std::uint32_t>(values_.size());
    at = std::copy(with_value_.begin(), with_value_.end(), at);
    at = std::copy(ones_.begin(), ones_.end(), at);
    for (const float value : values_) *at++ = std::bit_cast<std::uint32_t>(value);
    return nullptr;
  }

 private:
  bool each_once() {
    sorted_.assign(with_value_.begin(), with_value_.end());
    sorted_.insert(sorted_.end(), ones_.begin(), ones_.end());
    std::sort(sorted_.begin(), sorted_.end());
    return std::adjacent_find(sorted_.begin(), sorted_.end()) == sorted_.end();
  }

  const char* merge() {
    std::map<Key, float> sums;
    for (std::size_t i = 0; i < with_value_.size(); ++i) sums[with_value_[i]] += values_[i];
    for (const Key key : ones_) sums[key] += 1;
    begin();
    for (const auto& [key, value] : sums) {
      if (const char* wrong = check(value)) return wrong;
      add(key, value);
    }
    return nullptr;
  }

  float label_ = 0;
  std::vector<Key> with_value_;
  std::vector<float> values_;
  std::vector<Key> ones_;
  std::vector<Key> sorted_;
};

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
  thread_local Row row;
  row.begin();
  const char* wrong = options_.format == RowFormat::kVw       ? parse_vw(line, row)
                      : options_.format == RowFormat::kCriteo ? parse_criteo(line, row)
                                                              : parse_libsvm(line, row);
  if (wrong != nullptr) return wrong;
  row.add(constant());
  return row.append_to(rows);
}

const char* RowParser::label(float number, Row& row) const {
  if (options_.target == RowTarget::kNumber) {
    row.set_label(number);
    return check(number);
  }
  if (number != 1 && number != 0 && number != -1)
    return "the label is none of 0, 1 and -1 (for numbers: --model regression)";
  row.set_label(number > 0 ? 1.0F : 0.0F);
  return nullptr;
}

Key RowParser::key_of(std::uint64_t seed, std::string_view word) const {
  return static_cast<Key>(XXH3_64bits_withSeed(word.data(), word.size(), seed)) & (constant() - 1);
}

const char* RowParser::parse_libsvm(std::string_view line, Row& row) const {
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
    if (const char* wrong = check(number)) return wrong;
    row.add(static_cast<Key>(index), number);
  }
}

const char* RowParser::parse_criteo(std::string_view line, Row& row) const {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  Cursor cursor(line);
  float number = 0;
  if (!read_number(cursor, number)) return kNoLabel;
  if (const char* wrong = label(number, row)) return wrong;
  for (std::size_t field = 0; field < kCriteoNumbers + kCriteoWords; ++field) {
    if (cursor.over() || *cursor.at != '\t') return "expected 40 columns, separated by tabs";
    ++cursor.at;
    if (cursor.over() || *cursor.at == '\t') continue;  // missing
    if (field < kCriteoNumbers) {
      if (!read_number(cursor, number)) return "one of the columns 2 to 14 is no number";
      if (const char* wrong = check(number)) return wrong;
      row.add(key_of(field_seeds_[field], {}), std::copysign(std::log1p(std::abs(number)), number));
    } else {
      row.add(key_of(field_seeds_[field], cursor.word('\t', '\t')));
    }
  }
  return cursor.over() ? nullptr : "expected 40 columns, separated by tabs";
}

const char* RowParser::parse_vw(std::string_view line, Row& row) const {
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
  cursor.word('|', '|');  // a tag
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
      if (const char* wrong = check(number * scale)) return wrong;
      row.add(key, number * scale);
    }
  }
  return nullptr;
}

}  // namespace paceline
