#include "prepare/word_table.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <memory>
#include <queue>

#include "base/error.h"
#include "base/file.h"
#include "prepare/word_hash.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFirstSlots = std::size_t{1} << 15;
constexpr std::size_t kWriteBytes = std::size_t{1} << 20;

// Reads one list.
class WordList {
 public:
  explicit WordList(const fs::path& path) : path_(path), file_(path, std::ios::binary) {
    if (!file_) throw DataError("cannot read {}", path.string());
  }
  bool next() {
    std::uint64_t count = 0;
    std::uint32_t bytes = 0;
    if (!file_.read(reinterpret_cast<char*>(&count), sizeof count)) return false;
    file_.read(reinterpret_cast<char*>(&bytes), sizeof bytes);
    word_.resize(bytes);
    file_.read(word_.data(), bytes);
    if (!file_) throw DataError("{} is cut off: begin anew with --fresh", path_.string());
    count_ = count;
    return true;
  }
  const std::string& word() const { return word_; }
  std::uint64_t count() const { return count_; }

 private:
  fs::path path_;
  std::ifstream file_;
  std::string word_;
  std::uint64_t count_ = 0;
};

}  // namespace

WordTable::WordTable(std::span<const std::string> stopped, std::size_t memory)
    : stops_(stopped.begin(), stopped.end()), memory_(memory) {
  begin();
}

void WordTable::begin() {
  table_.assign(kFirstSlots, {});
  shift_ = 64 - static_cast<unsigned>(std::countr_zero(kFirstSlots));
  text_.clear();
  words_ = 0;
  for (const std::string& word : stops_) {
    const std::uint64_t key = key_of_word(word);
    add(place_of(word, key), word, key);
  }
  stopped_ = words_;
}

// Where it is, or where it would be.
WordTable::Entry& WordTable::place_of(std::string_view word, std::uint64_t key) {
  const std::size_t mask = table_.size() - 1;
  for (std::size_t at = slot_of_key(key, shift_);; at = (at + 1) & mask) {
    Entry& entry = table_[at];
    if (entry.bytes == 0) return entry;
    if (entry.key == key && entry.bytes == word.size() &&
        (word.size() <= kShortWord ||
         std::memcmp(text_.data() + entry.begin, word.data(), word.size()) == 0)) {
      return entry;
    }
  }
}

WordTable::Entry& WordTable::add(Entry& place, std::string_view word, std::uint64_t key) {
  place = {key, 0, static_cast<std::uint32_t>(text_.size()),
           static_cast<std::uint32_t>(word.size())};
  text_ += word;
  ++words_;
  if (2 * words_ < table_.size()) return place;
  grow();
  return place_of(word, key);
}

void WordTable::grow() {
  std::vector<Entry> old(2 * table_.size());
  old.swap(table_);
  --shift_;
  const std::size_t mask = table_.size() - 1;
  for (const Entry& entry : old) {
    if (entry.bytes == 0) continue;
    std::size_t at = slot_of_key(entry.key, shift_);
    while (table_[at].bytes != 0) at = (at + 1) & mask;
    table_[at] = entry;
  }
}

// A word that is stopped is the only one that is there and has no count.
WordTable::Found WordTable::look(std::string_view word) {
  const std::uint64_t key = key_of_word(word);
  const Entry& entry = place_of(word, key);
  return entry.bytes != 0 && entry.count == 0 ? Found::kStopped : Found::kWord;
}

WordTable::Found WordTable::count(std::string_view word) {
  const std::uint64_t key = key_of_word(word);
  Entry& entry = place_of(word, key);
  if (entry.bytes == 0) {
    add(entry, word, key).count = 1;
    return Found::kWord;
  }
  if (entry.count == 0) return Found::kStopped;
  ++entry.count;
  return Found::kWord;
}

bool WordTable::full() const {
  // Growing holds the table twice, and once more.
  const std::size_t slots = 2 * (words_ + 1) >= table_.size() ? 3 * table_.size() : table_.size();
  return slots * sizeof(Entry) + 2 * text_.size() > memory_;
}

void WordTable::write(const fs::path& path) {
  std::vector<Entry> entries;
  std::copy_if(table_.begin(), table_.end(), std::back_inserter(entries),
               [](const Entry& entry) { return entry.count > 0; });
  std::sort(entries.begin(), entries.end(),
            [this](const Entry& a, const Entry& b) { return word_of(a) < word_of(b); });
  AtomicFile file(path);
  std::string bytes;
  for (const Entry& entry : entries) {
    bytes.append(reinterpret_cast<const char*>(&entry.count), sizeof entry.count);
    bytes.append(reinterpret_cast<const char*>(&entry.bytes), sizeof entry.bytes);
    bytes += word_of(entry);
    if (bytes.size() < kWriteBytes) continue;
    file.write(std::string_view(bytes));
    bytes.clear();
  }
  file.write(std::string_view(bytes));
  file.commit(AtomicFile::Durable::kLater);
  begin();
}

void for_each_counted(const std::vector<fs::path>& lists,
                      const std::function<void(std::string_view, std::uint64_t)>& visit) {
  std::vector<std::unique_ptr<WordList>> open;
  const auto later = [&](std::size_t a, std::size_t b) {
    return open[b]->word() < open[a]->word();
  };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> heads(later);
  for (const fs::path& list : lists) {
    open.push_back(std::make_unique<WordList>(list));
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
    visit(word, count);
  }
}

WordTotals merge_words(const std::vector<fs::path>& lists, std::size_t most) {
  using Counted = std::pair<std::uint64_t, std::string>;
  // The one to go first is on top: the rarest, and of these the last in the alphabet.
  const auto better = [](const Counted& a, const Counted& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  };
  std::priority_queue<Counted, std::vector<Counted>, decltype(better)> best(better);
  WordTotals totals;
  for_each_counted(lists, [&](std::string_view word, std::uint64_t count) {
    ++totals.different;
    totals.occurrences += count;
    // A later word of the same count is behind in the alphabet.
    if (best.size() == most && (most == 0 || count <= best.top().first)) return;
    best.emplace(count, word);
    if (best.size() > most) best.pop();
  });
  totals.words.resize(best.size());
  for (std::size_t i = best.size(); i-- > 0; best.pop()) {
    totals.covered += best.top().first;
    totals.words[i] = best.top().second;
  }
  return totals;
}

}  // namespace paceline
