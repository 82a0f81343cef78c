#include "data/clean.h"

#include <utf8proc.h>

#include <array>
#include <cstdint>

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

// Writes without looking whether there is room: whoever makes it provides twice the text's size.
class Words {
 public:
  explicit Words(char* to) : begin_(to), at_(to) {}

  // Without branches: where words end is what a processor cannot guess.
  void ascii(std::uint8_t byte) {
    const std::uint8_t shown = kTable[byte];
    const bool letter = shown > kDropped;
    *at_ = ' ';
    at_ += static_cast<std::ptrdiff_t>(letter && blank_);
    *at_ = static_cast<char>(shown);
    at_ += static_cast<std::ptrdiff_t>(letter);
    blank_ = (blank_ && !letter) || (shown == kSeparator && at_ != begin_);
  }
  void separate() { blank_ = at_ != begin_; }
  void other(utf8proc_int32_t character) {
    if (character == kRightQuote) return;
    if (!is_word_part(character)) return separate();
    if (blank_) *at_++ = ' ';
    blank_ = false;
    at_ +=
        utf8proc_encode_char(utf8proc_tolower(character), reinterpret_cast<utf8proc_uint8_t*>(at_));
  }
  std::size_t size() const { return static_cast<std::size_t>(at_ - begin_); }

 private:
  char* begin_;
  char* at_;
  bool blank_ = false;  // one is due before the next letter
};

}  // namespace

std::size_t append_clean(std::string_view text, std::string& out) {
  const std::size_t before = out.size();
  out.resize(before + 2 * text.size() + 8);
  Words words(out.data() + before);
  std::size_t wrong = 0;
  const auto* at = reinterpret_cast<const std::uint8_t*>(text.data());
  const auto* const end = at + text.size();
  while (at < end) {
    if (*at < 128) {
      words.ascii(*at++);
      continue;
    }
    utf8proc_int32_t character = -1;
    const utf8proc_ssize_t bytes = utf8proc_iterate(at, end - at, &character);
    if (bytes > 0) {
      words.other(character);
      at += bytes;
    } else {
      words.separate();
      ++wrong;
      ++at;
    }
  }
  out.resize(before + words.size());
  return wrong;
}

}  // namespace paceline
