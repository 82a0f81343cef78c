#include "prepare/word_numbers.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "base/error.h"
#include "base/file/file.h"
#include "data/words.h"
#include "prepare/word_hash.h"
#include "prepare/word_lists.h"

namespace paceline {

namespace fs = std::filesystem;

WordNumbers::WordNumbers(const std::vector<std::string>& words)
    : table_(std::bit_ceil(std::max<std::size_t>(16, 4 * words.size()))) {
  end_ = Vocabulary::kFirstWord;
  shift_ = 64 - static_cast<unsigned>(std::countr_zero(table_.size()));
  const std::size_t mask = table_.size() - 1;
  for (const std::string& word : words) {
    const std::uint64_t key = key_of_word(word);
    std::size_t at = slot_of_key(key, shift_);
    while (table_[at].bytes != 0) at = (at + 1) & mask;
    table_[at] = {key, static_cast<std::uint32_t>(text_.size()),
                  static_cast<std::uint32_t>(word.size()), end_++};
    text_ += word;
  }
}

std::uint32_t WordNumbers::number(std::string_view word) const {
  const std::uint64_t key = key_of_word(word);
  const std::size_t mask = table_.size() - 1;
  for (std::size_t at = slot_of_key(key, shift_);; at = (at + 1) & mask) {
    const Entry& entry = table_[at];
    if (entry.bytes == 0) return Vocabulary::kUnknown;
    if (entry.key == key && entry.bytes == word.size() &&
        (word.size() <= kShortWord ||
         std::memcmp(text_.data() + entry.begin, word.data(), word.size()) == 0)) {
      return entry.number;
    }
  }
}

void translate_list(const fs::path& list, std::uint32_t count, const WordNumbers& numbers,
                    const fs::path& path) {
  std::vector<std::uint32_t> meant(count, Vocabulary::kUnknown);
  for_each_listed(list, [&](const ListedWord& word) {
    if (word.number >= count) {
      throw DataError("{} is damaged: begin anew with --fresh", list.string());
    }
    meant[word.number] = numbers.number(word.word);
  });
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(meant)));
  file.commit(AtomicFile::Durable::kLater);
}

}  // namespace paceline
