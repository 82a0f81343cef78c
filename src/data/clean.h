// Text → its words: small letters and digits of any script, one blank between two words.
//
// What is neither a letter nor a digit separates words, as do bytes that are not UTF-8. Inside a
// word an apostrophe is dropped: "Don't" is "dont".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace paceline {

// Appends the words of `text` to `out`, with no blank before the first. Returns how many bytes were
// not UTF-8.
std::size_t append_clean(std::string_view text, std::string& out);

}  // namespace paceline
