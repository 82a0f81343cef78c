// Numbers in text, digits eight at a time.
//
// Two ways: a Cursor walks through text whose parts end where they end; read_short() and
// read_short_index() take a part whose two ends are known, and none of them waits for another.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace paceline {

inline bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}
inline bool is_digit(char c) {
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
};

// A number as strtod reads it, and moves the cursor behind it. False when there is none here.
bool read_number(Cursor& cursor, float& number);
// A whole number of at most 18 digits. False when there is none, or it does not fit.
bool read_index(Cursor& cursor, std::uint64_t& index);

// ---- eight characters as the bytes of a word, the first one lowest ---------------------------

inline constexpr std::array<double, 19> kTens = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,
                                                 1e7,  1e8,  1e9,  1e10, 1e11, 1e12, 1e13,
                                                 1e14, 1e15, 1e16, 1e17, 1e18};

static_assert(std::endian::native == std::endian::little);

// Digits become their values.
inline std::uint64_t eight_characters(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word ^ 0x3030303030303030;
}

// The highest bit of each byte that is no digit; bytes behind the first such byte may be wrong.
inline std::uint64_t not_digits(std::uint64_t word) {
  return ((word + 0x7676767676767676) | word) & 0x8080808080808080;
}

// Neighbours are joined to pairs, to fours and to eight.
inline std::uint64_t joined(std::uint64_t word) {
  word = (word * 10 + (word >> 8)) & 0x00FF00FF00FF00FF;
  word = (word * 100 + (word >> 16)) & 0x0000FFFF0000FFFF;
  return (word * 10'000 + (word >> 32)) & 0x00000000FFFFFFFF;
}

// The last `count` of the eight characters before `end`; those before them are zeros.
inline std::uint64_t last_characters(const char* end, std::size_t count) {
  const std::size_t others = 64 - 8 * count;
  return eight_characters(end - 8) >> others << others;
}

// What is written in the `count` characters before `end`, one to eight of them; eight characters
// before `end` must be readable. False: not in digits alone.
inline bool read_short_index(const char* end, std::size_t count, std::uint64_t& index) {
  const std::uint64_t word = last_characters(end, count);
  index = joined(word);
  return not_digits(word) == 0;
}

// The same, with or without a point. False: what there is must be read in another way.
inline bool read_short(const char* end, std::size_t count, float& number) {
  constexpr std::uint64_t kPoint = '.' ^ '0';
  const std::uint64_t word = last_characters(end, count);
  const std::uint64_t others = not_digits(word);
  if (others == 0) {
    number = static_cast<float>(joined(word));
    return true;
  }
  // The digits before the point move up to those behind it.
  const int point = std::countr_zero(others) - 7;
  const std::uint64_t before = word & ((std::uint64_t{1} << point) - 1);
  const std::uint64_t behind = word >> point >> 8;
  const std::uint64_t digits = behind << 8 << point | before << 8;
  number = static_cast<float>(static_cast<double>(joined(digits)) /
                              kTens[static_cast<std::size_t>(56 - point) / 8]);
  return (word >> point & 0xFF) == kPoint && not_digits(digits) == 0 && count > 1;
}

}  // namespace paceline
