#include "prepare/word_table.h"

#include <array>
#include <bit>
#include <cstring>
#include <memory>

#include "base/large_pages.h"
#include "prepare/word_hash.h"
#include "prepare/word_lists.h"

namespace paceline {
namespace {

constexpr std::size_t kFirstSlots = std::size_t{1} << 12;
constexpr std::uint32_t kStopped = ~std::uint32_t{0};

}  // namespace

WordTable::WordTable(std::span<const std::string> stopped, std::size_t memory)
    : stops_(stopped.begin(), stopped.end()), memory_(memory) {
  begin();
}

void WordTable::make(std::size_t places) {
  places_ = large_page_buffer(places * sizeof(Entry));
  table_ = {reinterpret_cast<Entry*>(places_.data()), places};
  std::uninitialized_value_construct(table_.begin(), table_.end());
  shift_ = 64 - static_cast<unsigned>(std::countr_zero(places));
}

void WordTable::begin() {
  make(kFirstSlots);
  text_.clear();
  used_ = next_ = 0;
  for (const std::string& word : stops_) {
    const std::uint64_t key = key_of_word(word);
    add(place_of(word, key), word, key, kStopped);
  }
}

// Where it is, or where it would be.
WordTable::Entry& WordTable::place_of(std::string_view word, std::uint64_t key) {
  const std::size_t mask = table_.size() - 1;
  for (std::size_t at = slot_of_key(key, shift_);; at = (at + 1) & mask) {
    Entry& entry = table_[at];
    if (entry.key == key && entry.bytes == word.size() &&
        (word.size() <= kShortWord ||
         std::memcmp(text_.data() + entry.begin, word.data(), word.size()) == 0)) {
      return entry;
    }
    if (entry.bytes == 0) return entry;
  }
}

WordTable::Entry& WordTable::add(Entry& place, std::string_view word, std::uint64_t key,
                                 std::uint32_t number) {
  place = {key, 0, number, static_cast<std::uint32_t>(text_.size()),
           static_cast<std::uint32_t>(word.size())};
  text_ += word;
  ++used_;
  if (2 * used_ < table_.size()) return place;
  grow();
  return place_of(word, key);
}

void WordTable::grow() {
  const Buffer old_places = std::move(places_);
  const std::span<const Entry> old = table_;
  make(2 * old.size());
  const std::size_t mask = table_.size() - 1;
  for (const Entry& entry : old) {
    if (entry.bytes == 0) continue;
    std::size_t at = slot_of_key(entry.key, shift_);
    while (table_[at].bytes != 0) at = (at + 1) & mask;
    table_[at] = entry;
  }
}

WordTable::Entry& WordTable::entry_of(std::string_view word, std::uint64_t key) {
  Entry& entry = place_of(word, key);
  return entry.bytes == 0 ? add(entry, word, key, next_++) : entry;
}

void WordTable::count(std::string_view word, std::uint64_t times) {
  entry_of(word, key_of_word(word)).count += times;
}

// In two passes, so that the places of all words are on their way from memory when the first is
// looked at.
void WordTable::number(std::string_view text, std::uint64_t times,
                       std::vector<std::uint32_t>& numbers) {
  tokens_.clear();
  padded_.assign(text);
  padded_.append(kBlanksBehind, ' ');
  text = std::string_view(padded_).substr(0, text.size());
  for_each_clean_word(text, [this](std::string_view word, std::uint64_t key) {
    __builtin_prefetch(&table_[slot_of_key(key, shift_)], 1);
    tokens_.push_back({word, key});
  });
  // Whether a word is stopped is hard to guess, so there is no branch: its number is written like
  // any other, and then overwritten.
  const std::size_t before = numbers.size();
  numbers.resize(before + tokens_.size());
  std::uint32_t* out = numbers.data() + before;
  for (const Token& token : tokens_) {
    Entry& entry = entry_of(token.word, token.key);
    entry.count += times;
    *out = entry.number;
    out += entry.number == kStopped ? 0 : 1;
  }
  numbers.resize(static_cast<std::size_t>(out - numbers.data()));
}

bool WordTable::full() const {
  // Growing holds the table twice, and once more.
  const std::size_t slots = 2 * (used_ + 1) >= table_.size() ? 3 * table_.size() : table_.size();
  constexpr std::size_t kMostText = std::size_t{1} << 31;  // places in it have 32 bits
  return slots * sizeof(Entry) + 2 * text_.size() > memory_ || text_.size() > kMostText;
}

void WordTable::for_each(const std::function<void(const ListedWord&)>& visit) const {
  for (const Entry& entry : table_) {
    if (entry.bytes != 0 && entry.number != kStopped) {
      visit({entry.count, entry.number, word_of(entry)});
    }
  }
}

void WordTable::write(const std::filesystem::path& path) {
  std::array<std::vector<const Entry*>, kSlices> slices;
  for (const Entry& entry : table_) {
    if (entry.bytes != 0 && entry.number != kStopped) {
      slices[slice_of_word(entry.key)].push_back(&entry);
    }
  }
  WordListWriter list(path);
  for (std::size_t slice = 0; slice < kSlices; ++slice) {
    for (const Entry* entry : slices[slice]) {
      list.add(slice, {entry->count, entry->number, word_of(*entry)});
    }
  }
  list.commit();
  begin();
}

}  // namespace paceline
