// Numbers for words as they come, and exact counts of them, in bounded memory.
//
// A table is filled up to some memory; then its words go to a list (word_lists.h), and it begins
// again. Numbers mean something only together with the list of their table. Words that are stopped
// stay in the table, and have no number. One thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"

namespace paceline {

struct ListedWord {
  std::uint64_t count = 0;   // 0: it is only in texts whose words do not count
  std::uint32_t number = 0;  // of its table
  std::string_view word;
};

class WordTable {
 public:
  WordTable(std::span<const std::string> stopped, std::size_t memory);

  // Appends the numbers of the words of a clean text but for those that are stopped, and counts
  // each so many times: 0 for texts whose words do not count.
  void number(std::string_view text, std::uint64_t times, std::vector<std::uint32_t>& numbers);
  // Counts one word so many times.
  void count(std::string_view word, std::uint64_t times);

  // Every word that has a number, in no order.
  void for_each(const std::function<void(const ListedWord&)>& visit) const;

  bool full() const;
  std::uint32_t words() const { return next_; }  // that have numbers: these are below
  // Writes the list of its words and forgets them. Throws DataError.
  void write(const std::filesystem::path& path);

 private:
  struct alignas(32) Entry {
    std::uint64_t key = 0;
    std::uint64_t count = 0;
    std::uint32_t number = 0;
    std::uint32_t begin = 0;
    std::uint32_t bytes = 0;  // 0: nothing is here
  };
  struct Token {
    std::string_view word;
    std::uint64_t key;
  };
  Entry& place_of(std::string_view word, std::uint64_t key);
  Entry& entry_of(std::string_view word, std::uint64_t key);
  std::string_view word_of(const Entry& entry) const {
    return {text_.data() + entry.begin, entry.bytes};
  }
  Entry& add(Entry& place, std::string_view word, std::uint64_t key, std::uint32_t number);
  void make(std::size_t places);
  void grow();
  void begin();

  std::vector<std::string> stops_;
  std::size_t memory_;
  Buffer places_;
  std::span<Entry> table_;     // in it
  unsigned shift_ = 0;         // of keys, to places
  std::string text_;           // the words, one behind the other
  std::size_t used_ = 0;       // places
  std::uint32_t next_ = 0;     // number
  std::string padded_;         // the text at hand
  std::vector<Token> tokens_;  // and its words
};

}  // namespace paceline
