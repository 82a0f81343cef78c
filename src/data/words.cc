#include "data/words.h"

#include <algorithm>
#include <utility>

#include "data/clean.h"

namespace paceline {
namespace {

enum class Kind { kLetter, kApostrophe, kMark, kSpace };

Kind kind_of(unsigned char c) {
  if (c >= 128 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) {
    return Kind::kLetter;
  }
  if (c == '\'') return Kind::kApostrophe;
  return c <= ' ' ? Kind::kSpace : Kind::kMark;
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

void for_each_word(std::string_view text, Marks marks,
                   const std::function<void(std::string_view)>& visit) {
  if (marks == Marks::kDropped) {
    std::string cleaned;
    append_clean(text, cleaned);
    for (std::string_view rest = cleaned; !rest.empty();) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      visit(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return;
  }
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) visit(word);
    word.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    switch (kind_of(static_cast<unsigned char>(text[i]))) {
      case Kind::kLetter:
        word.push_back(lower(text[i]));
        break;
      case Kind::kApostrophe:
        break;
      case Kind::kMark:
        end_word();
        visit(text.substr(i, 1));
        break;
      case Kind::kSpace:
        end_word();
        break;
    }
  }
  end_word();
}

Vocabulary::Vocabulary(std::vector<std::string> words, std::vector<std::string> stop_words)
    : words_(std::move(words)), stop_words_(std::move(stop_words)) {
  numbers_.reserve(words_.size() + stop_words_.size());
  for (const std::string& word : stop_words_) numbers_.emplace(word, kLeftOut);
  for (std::size_t i = 0; i < words_.size(); ++i) {
    numbers_.emplace(words_[i], kFirstWord + static_cast<std::int32_t>(i));
  }
}

std::int32_t Vocabulary::number(std::string_view word) const {
  const auto found = numbers_.find(word);
  return found == numbers_.end() || found->second == kLeftOut ? kUnknown : found->second;
}

bool Vocabulary::leaves_out(std::string_view word) const {
  const auto found = numbers_.find(word);
  return found != numbers_.end() && found->second == kLeftOut;
}

std::string_view Vocabulary::word(std::int32_t number) const {
  const auto place = static_cast<std::size_t>(number) - kFirstWord;
  return number >= kFirstWord && place < words_.size() ? std::string_view(words_[place]) : "?";
}

void WordCount::add(std::string_view word) {
  const auto found = counts_.find(word);
  if (found != counts_.end()) {
    ++found->second;
  } else {
    counts_.emplace(word, 1);
  }
}

Vocabulary WordCount::most_frequent(std::uint32_t size) const {
  using Entry = std::pair<std::string_view, std::uint64_t>;
  std::vector<Entry> entries(counts_.begin(), counts_.end());
  const auto room = static_cast<std::size_t>(std::max<std::int64_t>(
      0, static_cast<std::int64_t>(size) - static_cast<std::int64_t>(Vocabulary::kFirstWord)));
  const std::size_t kept = std::min(entries.size(), room);
  std::partial_sort(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(kept),
                    entries.end(), [](const Entry& a, const Entry& b) {
                      return a.second != b.second ? a.second > b.second : a.first < b.first;
                    });
  std::vector<std::string> words;
  words.reserve(kept);
  for (std::size_t i = 0; i < kept; ++i) words.emplace_back(entries[i].first);
  return Vocabulary(std::move(words));
}

}  // namespace paceline
