// Lists of counted words: what tables (word_table.h) leave on disk.
//
// A list is cut into slices by the keys of its words (sliced_file.h). Merging the same slice of all
// lists brings the counts of its words together. Everything throws DataError.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "prepare/sliced_file.h"
#include "prepare/tasks.h"
#include "prepare/word_table.h"

namespace paceline {

class WordListWriter {
 public:
  explicit WordListWriter(const std::filesystem::path& path);
  void add(std::size_t slice, const ListedWord& word);  // slices ascend
  void commit() { file_.commit(); }

 private:
  SlicedWriter file_;
};

SlicedFile open_list(const std::filesystem::path& path);

void for_each_listed(const std::filesystem::path& list,
                     const std::function<void(const ListedWord&)>& visit);

// The most frequent first; equally frequent ones by alphabet.
using CountedWords = std::vector<std::pair<std::string, std::uint64_t>>;
void keep_most_frequent(CountedWords& words, std::size_t most);

// Longer ones are never chosen: all words of a file take as much room as the longest.
inline constexpr std::size_t kLongestWord = 256;  // bytes

struct WordTotals {
  std::uint64_t different = 0;  // that count
  CountedWords words;           // the most frequent ones
};

// What these slices of all lists count together. Each thread uses about so much memory.
struct MergeOptions {
  SliceRange slices{};
  std::size_t most = 0;
  unsigned threads = 1;
  std::size_t thread_memory = std::size_t{64} << 20;
};
WordTotals merge_lists(const std::vector<std::filesystem::path>& lists, const MergeOptions& options,
                       const StopFlag& stop);

}  // namespace paceline
