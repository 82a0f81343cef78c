// ASCII text → its words, many characters at a time; what clean.h does where most characters are.
#pragma once

#include <cstdint>

namespace paceline {

// Where the next character of a word goes.
struct WordPlace {
  char* at = nullptr;
  unsigned begun = 0;  // 1: there is a word already
  unsigned blank = 0;  // 1: one is due before the next letter
};

// What may be written behind the place, beyond twice the size of the text.
inline constexpr std::size_t kCleanRoom = 64;

// Takes characters of [from, end) and returns where it stopped: at the latest at the end, at the
// earliest at a block with a character that is not ASCII. Letters become small, apostrophes are
// dropped, and all but letters and digits separates words.
const std::uint8_t* clean_ascii_blocks(const std::uint8_t* from, const std::uint8_t* end,
                                       WordPlace& place);

}  // namespace paceline
