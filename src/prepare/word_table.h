// Exact counts of words, in bounded memory.
//
// A table is filled up to some memory; then its words go to a file, sorted, and it begins again. In
// the end all such lists are merged: counts of the same word come together there. Words that are
// stopped stay in the table and are counted for nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/words.h"

namespace paceline {

// One thread at a time.
class WordTable {
 public:
  WordTable(std::span<const std::string> stopped, std::size_t memory);

  enum class Found { kStopped, kWord };
  Found look(std::string_view word);   // without counting it
  Found count(std::string_view word);  // once more, unless it is stopped

  bool full() const;
  bool empty() const { return words_ == stopped_; }
  // Writes the words and their counts in alphabetical order, and forgets them. Throws DataError.
  void write(const std::filesystem::path& path);

 private:
  struct Entry {
    std::uint64_t key = 0;
    std::uint64_t count = 0;
    std::uint32_t begin = 0;
    std::uint32_t bytes = 0;  // 0: nothing is here
  };
  Entry& place_of(std::string_view word, std::uint64_t key);
  std::string_view word_of(const Entry& entry) const {
    return {text_.data() + entry.begin, entry.bytes};
  }
  Entry& add(Entry& place, std::string_view word, std::uint64_t key);
  void grow();
  void begin();

  std::vector<std::string> stops_;
  std::size_t memory_;
  std::vector<Entry> table_;
  unsigned shift_ = 0;  // of keys, to places
  std::string text_;    // the words, one behind the other
  std::size_t words_ = 0;
  std::size_t stopped_ = 0;
};

// What all lists say together. Lists may be any number; throws DataError.
struct WordTotals {
  std::uint64_t different = 0;  // words
  std::uint64_t occurrences = 0;
  std::uint64_t covered = 0;       // occurrences of words of the vocabulary
  std::vector<std::string> words;  // the most frequent first; equally frequent ones by alphabet
};
WordTotals merge_words(const std::vector<std::filesystem::path>& lists, std::size_t most);

// Calls `visit` with each word and its count, in alphabetical order.
void for_each_counted(const std::vector<std::filesystem::path>& lists,
                      const std::function<void(std::string_view word, std::uint64_t count)>& visit);

}  // namespace paceline
