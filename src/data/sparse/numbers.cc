#include "data/sparse/numbers.h"

#include <charconv>
#include <cstdlib>
#include <string>

namespace paceline {
namespace {

struct Digits {
  std::uint64_t value = 0;
  std::ptrdiff_t count = 0;
};

// Moves `at` behind the digits. More than 18 may not fit: their value means nothing.
Digits read_digits(const char*& at, const char* end) {
  Digits digits;
  if (end - at >= 8) {
    const std::uint64_t word = eight_characters(at);
    digits.count = std::countr_zero(not_digits(word)) / 8;
    if (digits.count == 0) return digits;
    digits.value = joined(word << (64 - 8 * digits.count));
    at += digits.count;
    if (digits.count < 8) return digits;
  }
  for (; at < end && is_digit(*at); ++at, ++digits.count) {
    digits.value = digits.value * 10 + static_cast<std::uint64_t>(*at - '0');
  }
  return digits;
}

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

}  // namespace

bool read_number(Cursor& cursor, float& number) {
  const char* at = cursor.at;
  const char* const end = cursor.end;
  const bool negative = at < end && *at == '-';
  if (at < end && (*at == '-' || *at == '+')) ++at;
  const Digits whole = read_digits(at, end);
  Digits part;
  if (at < end && *at == '.') part = read_digits(++at, end);
  const std::ptrdiff_t count = whole.count + part.count;
  const bool exponent = at < end && (*at == 'e' || *at == 'E');
  if (count == 0 || count > 18 || exponent) return slow_number(cursor, number);
  const double scale = kTens[static_cast<std::size_t>(part.count)];
  const std::uint64_t digits = whole.value * static_cast<std::uint64_t>(scale) + part.value;
  const double value = static_cast<double>(digits) / scale;
  number = static_cast<float>(negative ? -value : value);
  cursor.at = at;
  return true;
}

bool read_index(Cursor& cursor, std::uint64_t& index) {
  const Digits digits = read_digits(cursor.at, cursor.end);
  index = digits.value;
  return digits.count > 0 && digits.count <= 18;
}

}  // namespace paceline
