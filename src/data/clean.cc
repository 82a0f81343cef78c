#include "data/clean.h"

#include <utf8proc.h>

#include <array>
#include <cstdint>

#include "data/clean_ascii.h"

namespace paceline {
namespace {

constexpr std::uint8_t kSeparator = 0;
constexpr std::uint8_t kDropped = 1;
constexpr utf8proc_int32_t kRightQuote = 0x2019;  // what typesetters write for an apostrophe

// Of each character below 128: itself as a small letter, or what it does.
constexpr std::array<std::uint8_t, 128> make_table() {
  std::array<std::uint8_t, 128> table{};
  for (std::uint8_t c = 'a'; c <= 'z'; ++c) table[c] = c;
  for (std::uint8_t c = 'A'; c <= 'Z'; ++c) table[c] = static_cast<std::uint8_t>(c - 'A' + 'a');
  for (std::uint8_t c = '0'; c <= '9'; ++c) table[c] = c;
  table['\''] = kDropped;
  return table;
}
constexpr std::array<std::uint8_t, 128> kTable = make_table();

bool is_word_part(utf8proc_int32_t character) {
  switch (utf8proc_category(character)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return true;
    default:
      return false;
  }
}

// Takes ASCII characters up to the first other one, which it returns. Those that are not in whole
// blocks come one by one, without branches: where words end is what a processor cannot guess.
const std::uint8_t* take_ascii(const std::uint8_t* from, const std::uint8_t* end,
                               WordPlace& place) {
  from = clean_ascii_blocks(from, end, place);
  auto [at, begun, blank] = place;
  for (; from < end && *from < 128; ++from) {
    const std::uint8_t shown = kTable[*from];
    const unsigned letter = shown > kDropped ? 1 : 0;
    const unsigned separator = shown == kSeparator ? 1 : 0;
    const unsigned gap = letter & blank;
    at[0] = ' ';
    at[gap] = static_cast<char>(shown);
    at += gap + letter;
    blank = (blank & ~letter) | (separator & begun);
    begun |= letter;
  }
  place = {at, begun, blank};
  return from;
}

void take_other(utf8proc_int32_t character, WordPlace& place) {
  if (character == kRightQuote) return;
  if (!is_word_part(character)) {
    place.blank = place.begun;
    return;
  }
  if (place.blank == 1) *place.at++ = ' ';
  place.at += utf8proc_encode_char(utf8proc_tolower(character),
                                   reinterpret_cast<utf8proc_uint8_t*>(place.at));
  place.begun = 1;
  place.blank = 0;
}

}  // namespace

std::size_t append_clean(std::string_view text, std::string& out) {
  const std::size_t before = out.size();
  out.resize(before + 2 * text.size() + kCleanRoom);
  char* const begin = out.data() + before;
  WordPlace place{begin};
  std::size_t wrong = 0;
  const auto* at = reinterpret_cast<const std::uint8_t*>(text.data());
  const auto* const end = at + text.size();
  while ((at = take_ascii(at, end, place)) < end) {
    utf8proc_int32_t character = -1;
    const utf8proc_ssize_t bytes = utf8proc_iterate(at, end - at, &character);
    if (bytes > 0) {
      take_other(character, place);
      at += bytes;
    } else {
      place.blank = place.begun;
      ++wrong;
      ++at;
    }
  }
  out.resize(before + static_cast<std::size_t>(place.at - begin));
  return wrong;
}

}  // namespace paceline
