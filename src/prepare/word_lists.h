// Lists of counted words: what tables (word_table.h) leave on disk.
//
// A list is sorted by the keys of its words (word_hash.h), and words of the same key by alphabet.
// Merging all lists brings the counts of a word together, one word at a time. Everything throws
// DataError.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "prepare/buffered_file.h"

namespace paceline {

struct ListedWord {
  std::uint64_t count = 0;   // 0: it is only in texts whose words do not count
  std::uint32_t number = 0;  // of the table that wrote it
  std::string_view word;     // valid until the next one is asked for
};
using VisitWord = std::function<void(const ListedWord&)>;

// Takes words in their order.
class WordListWriter {
 public:
  explicit WordListWriter(const std::filesystem::path& path) : file_(path) {}
  void add(const ListedWord& word);
  void commit() { file_.commit(); }

 private:
  BufferedFile file_;
};

void for_each_listed(const std::filesystem::path& list, const VisitWord& visit);

// Every word once, with all that it counts; without those that count nothing.
void for_each_counted(const std::vector<std::filesystem::path>& lists, const VisitWord& visit);

// What `lists` count together as new lists, divided by key: a word is in the same one of them
// whoever divides.
void divide_lists(const std::vector<std::filesystem::path>& lists,
                  const std::vector<std::filesystem::path>& into);

// The most frequent first; equally frequent ones by alphabet.
using CountedWords = std::vector<std::pair<std::string, std::uint64_t>>;
void keep_most_frequent(CountedWords& words, std::size_t most);

struct WordTotals {
  std::uint64_t different = 0;
  CountedWords words;  // the most frequent ones
};
WordTotals merge_lists(const std::vector<std::filesystem::path>& lists, std::size_t most);

}  // namespace paceline
