// Text → its words: small letters and digits of any script, one blank between two words.
//
// What is neither a letter, a digit nor a mark of one separates words, as do bytes that are not
// UTF-8. Apostrophes are dropped: "Don't" is "dont". Composed and decomposed letters differ.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace paceline {

// Appends the words of `text` to `out`, with no blank before the first. Returns how many bytes were
// not UTF-8.
std::size_t append_clean(std::string_view text, std::string& out);

}  // namespace paceline
