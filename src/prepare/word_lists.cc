#include "prepare/word_lists.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <queue>
#include <tuple>

#include "base/error.h"
#include "prepare/word_hash.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

struct WordHead {
  std::uint64_t count;
  std::uint32_t number;
  std::uint32_t bytes;
};

class WordListReader {
 public:
  explicit WordListReader(const fs::path& path) : path_(path), file_(path, std::ios::binary) {
    if (!file_) throw DataError("cannot read {}", path.string());
  }
  bool next() {
    if (!file_.read(reinterpret_cast<char*>(&head_), sizeof head_)) {
      if (file_.gcount() == 0) return false;
      fail();
    }
    if (head_.bytes > kMostBytes) fail();
    word_.resize(head_.bytes);
    if (!file_.read(word_.data(), head_.bytes)) fail();
    key_ = key_of_word(word_);
    return true;
  }
  const std::string& word() const { return word_; }
  std::uint64_t key() const { return key_; }
  std::uint64_t count() const { return head_.count; }
  std::uint32_t number() const { return head_.number; }

 private:
  static constexpr std::uint32_t kMostBytes = 1U << 30;

  [[noreturn]] void fail() const {
    throw DataError("{} is damaged: begin anew with --fresh", path_.string());
  }

  fs::path path_;
  std::ifstream file_;
  WordHead head_{};
  std::string word_;
  std::uint64_t key_ = 0;
};

bool more_frequent(const CountedWords::value_type& a, const CountedWords::value_type& b) {
  return a.second != b.second ? a.second > b.second : a.first < b.first;
}

}  // namespace

void WordListWriter::add(const ListedWord& word) {
  const WordHead head{word.count, word.number, static_cast<std::uint32_t>(word.word.size())};
  file_.add_items(&head, 1);
  file_.add(word.word);
  file_.end_item();
}

void for_each_listed(const fs::path& list, const VisitWord& visit) {
  WordListReader reader(list);
  while (reader.next()) visit({reader.count(), reader.number(), reader.word()});
}

void for_each_counted(const std::vector<fs::path>& lists, const VisitWord& visit) {
  std::vector<std::unique_ptr<WordListReader>> open;
  const auto later = [&](std::size_t a, std::size_t b) {
    const std::uint64_t mine = open[a]->key();
    const std::uint64_t other = open[b]->key();
    return mine != other ? mine > other : open[a]->word() > open[b]->word();
  };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> heads(later);
  for (const fs::path& list : lists) {
    open.push_back(std::make_unique<WordListReader>(list));
    if (open.back()->next()) heads.push(open.size() - 1);
  }
  std::string word;
  while (!heads.empty()) {
    word = open[heads.top()]->word();
    std::uint64_t count = 0;
    while (!heads.empty() && open[heads.top()]->word() == word) {
      const std::size_t list = heads.top();
      heads.pop();
      count += open[list]->count();
      if (open[list]->next()) heads.push(list);
    }
    if (count > 0) visit({count, 0, word});
  }
}

void divide_lists(const std::vector<fs::path>& lists, const std::vector<fs::path>& into) {
  std::vector<std::unique_ptr<WordListWriter>> parts;
  for (const fs::path& path : into) parts.push_back(std::make_unique<WordListWriter>(path));
  for_each_counted(lists, [&](const ListedWord& word) {
    parts[(mixed_key(key_of_word(word.word)) >> 32) % parts.size()]->add(word);
  });
  for (const auto& part : parts) part->commit();
}

void keep_most_frequent(CountedWords& words, std::size_t most) {
  const std::size_t kept = std::min(most, words.size());
  std::partial_sort(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(kept), words.end(),
                    more_frequent);
  words.resize(kept);
}

// Twice as many as are wanted are held, then the better half is kept.
WordTotals merge_lists(const std::vector<fs::path>& lists, std::size_t most) {
  WordTotals totals;
  std::uint64_t least = 0;  // no word of a lower count can be among them
  for_each_counted(lists, [&](const ListedWord& word) {
    ++totals.different;
    if (word.count < least) return;
    totals.words.emplace_back(word.word, word.count);
    if (totals.words.size() < 2 * most) return;
    keep_most_frequent(totals.words, most);
    if (most > 0) least = totals.words.back().second;
  });
  keep_most_frequent(totals.words, most);
  return totals;
}

}  // namespace paceline
