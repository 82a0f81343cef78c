#include "prepare/word_lists.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "prepare/word_hash.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kListMagic = 0x3144525745434150;  // "PACEWRD1"

struct WordHead {
  std::uint64_t count;
  std::uint32_t number;
  std::uint32_t bytes;
};

void for_each_in_slice(const SlicedFile& list, std::size_t slice, std::string& bytes,
                       const std::function<void(const ListedWord&)>& visit) {
  bytes.resize(list.end(slice) - list.begin(slice));
  list.read(list.begin(slice), bytes.data(), bytes.size());
  std::uint64_t checksum = 0;
  for (std::string_view left = bytes; !left.empty();) {
    WordHead head{};
    if (left.size() < sizeof head) list.fail("its records are damaged");
    std::memcpy(&head, left.data(), sizeof head);
    if (head.bytes == 0 || left.size() - sizeof head < head.bytes) {
      list.fail("its records are damaged");
    }
    const std::size_t size = sizeof head + head.bytes;
    checksum += checksum_of_record(left.substr(0, size));
    visit({head.count, head.number, left.substr(sizeof head, head.bytes)});
    left.remove_prefix(size);
  }
  if (checksum != list.checksum(slice)) list.fail("its records are damaged");
}

// Words of a slice, with all that they count. Where all of them might not find room in the memory,
// there are several passes over the slice, each for some of its words.
void for_each_counted(const std::vector<SlicedFile>& lists, std::size_t slice, std::size_t memory,
                      const std::function<void(const ListedWord&)>& visit) {
  constexpr std::uint64_t kTableBytes = 8;  // for each byte of a list, at most
  std::uint64_t bytes = 0;
  for (const SlicedFile& list : lists) bytes += list.end(slice) - list.begin(slice);
  const std::uint64_t passes = 1 + kTableBytes * bytes / memory;
  std::string buffer;
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    WordTable table({}, memory);
    for (const SlicedFile& list : lists) {
      for_each_in_slice(list, slice, buffer, [&](const ListedWord& word) {
        if (word.count == 0) return;
        if (passes > 1 && (mix(key_of_word(word.word)) >> 16) % passes != pass) return;
        table.count(word.word, word.count);
      });
    }
    table.for_each(visit);
  }
}

}  // namespace

WordListWriter::WordListWriter(const fs::path& path) : file_(path, kListMagic) {}

void WordListWriter::add(std::size_t slice, const ListedWord& word) {
  const WordHead head{word.count, word.number, static_cast<std::uint32_t>(word.word.size())};
  BufferedFile& file = file_.begin_record(slice);
  file.add_items(&head, 1);
  file.add(word.word);
  file_.end_record();
}

SlicedFile open_list(const fs::path& path) {
  return SlicedFile(path, kListMagic);
}

void for_each_listed(const fs::path& list, const std::function<void(const ListedWord&)>& visit) {
  const SlicedFile file = open_list(list);
  std::string buffer;
  for (std::size_t slice = 0; slice < kSlices; ++slice) {
    for_each_in_slice(file, slice, buffer, visit);
  }
}

void keep_most_frequent(CountedWords& words, std::size_t most) {
  const std::size_t kept = std::min(most, words.size());
  std::partial_sort(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(kept), words.end(),
                    [](const auto& a, const auto& b) {
                      return a.second != b.second ? a.second > b.second : a.first < b.first;
                    });
  words.resize(kept);
}

// Twice as many words as are wanted are held, then the better half is kept.
WordTotals merge_lists(const std::vector<fs::path>& lists, const MergeOptions& options,
                       const StopFlag& stop) {
  std::vector<SlicedFile> files;
  files.reserve(lists.size());
  for (const fs::path& list : lists) files.push_back(open_list(list));
  std::mutex mutex;
  WordTotals totals;
  std::uint64_t least = 1;  // no word that counts less can be among the most frequent
  const std::size_t slices = options.slices.end - options.slices.first;
  run_tasks(slices, options.threads, stop, [&](std::size_t i) {
    std::uint64_t different = 0;
    CountedWords best;
    std::unique_lock lock(mutex);
    const std::uint64_t bar = least;
    lock.unlock();
    for_each_counted(files, options.slices.first + i, options.thread_memory,
                     [&](const ListedWord& word) {
                       ++different;
                       if (word.count < bar || word.word.size() > kLongestWord) return;
                       best.emplace_back(word.word, word.count);
                       if (best.size() > 2 * options.most) keep_most_frequent(best, options.most);
                     });
    keep_most_frequent(best, options.most);
    lock.lock();
    totals.different += different;
    std::ranges::move(best, std::back_inserter(totals.words));
    if (totals.words.size() < 2 * options.most) return;
    keep_most_frequent(totals.words, options.most);
    if (!totals.words.empty()) least = totals.words.back().second;
  });
  keep_most_frequent(totals.words, options.most);
  return totals;
}

}  // namespace paceline
