#include "prepare/number_step.h"

#include <fmt/format.h>
#include <libdeflate.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.h"
#include "base/file.h"
#include "prepare/word_hash.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

// Higher ones take three times as long for a tenth less.
constexpr int kDeflateLevel = 1;

class Deflater {
 public:
  Deflater() : compressor_(libdeflate_alloc_compressor(kDeflateLevel)) {}
  ~Deflater() { libdeflate_free_compressor(compressor_); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  std::string deflate(std::string_view bytes) {
    std::string out(libdeflate_zlib_compress_bound(compressor_, bytes.size()), '\0');
    out.resize(
        libdeflate_zlib_compress(compressor_, bytes.data(), bytes.size(), out.data(), out.size()));
    PACELINE_CHECK(!out.empty());
    return out;
  }

 private:
  libdeflate_compressor* compressor_;
};

// Rows of one width, the open chunk of which is filled and deflated in turn.
template <typename Id>
class Numbering {
 public:
  Numbering(const NumberTask& task, const WordNumbers& words, const PrepareSettings& settings)
      : task_(task), words_(words), length_(settings.length), ids_(kChunkRows * length_) {}

  NumberedRows run() {
    for_each_row(task_.files, task_.first, task_.end,
                 [this](std::uint64_t row, const GroupedReview& review) { take(row, review); });
    if (in_chunk_ > 0) end_chunk();
    labels_.resize(kTaskRows);
    rows_.labels = deflater_.deflate(labels_);
    return std::move(rows_);
  }

 private:
  void take(std::uint64_t row, const GroupedReview& review) {
    Id* const begin = ids_.data() + in_chunk_ * length_;
    Id* at = begin;
    for_each_clean_word(review.words, [&](std::string_view word) {
      const std::uint32_t number = words_.number(word);
      rows_.unknown += number == Vocabulary::kUnknown ? 1 : 0;
      *at++ = static_cast<Id>(number);
    });
    rows_.words += static_cast<std::uint64_t>(at - begin);
    std::fill(at, begin + length_, Id{Vocabulary::kPadding});
    const std::uint64_t seed =
        row * 8 + static_cast<std::uint64_t>(task_.files.part) * 2 + review.label;
    const XXH128_hash_t hash = XXH3_128bits_withSeed(begin, length_ * sizeof(Id), seed);
    rows_.sum.add({hash.low64, hash.high64});
    labels_ += static_cast<char>(review.label);
    if (++in_chunk_ == kChunkRows) end_chunk();
  }

  void end_chunk() {
    throw_if_stopped(task_.stop);
    std::fill(ids_.begin() + static_cast<std::ptrdiff_t>(in_chunk_ * length_), ids_.end(), Id{0});
    rows_.ids.push_back(
        deflater_.deflate({reinterpret_cast<const char*>(ids_.data()), ids_.size() * sizeof(Id)}));
    in_chunk_ = 0;
  }

  const NumberTask& task_;
  const WordNumbers& words_;
  std::size_t length_;
  Deflater deflater_;
  std::vector<Id> ids_;  // [kChunkRows, length]
  std::size_t in_chunk_ = 0;
  std::string labels_;
  NumberedRows rows_;
};

struct NumberedHead {
  std::uint64_t chunks = 0;
  std::uint64_t label_bytes = 0;
  ContentSum sum;
  std::uint64_t words = 0;
  std::uint64_t unknown = 0;
};

void write_numbered(const fs::path& path, const NumberedRows& rows) {
  AtomicFile file(path);
  const NumberedHead head{rows.ids.size(), rows.labels.size(), rows.sum, rows.words, rows.unknown};
  file.write(std::as_bytes(std::span(&head, 1)));
  std::vector<std::uint64_t> sizes;
  for (const std::string& chunk : rows.ids) sizes.push_back(chunk.size());
  file.write(std::as_bytes(std::span(sizes)));
  for (const std::string& chunk : rows.ids) file.write(std::string_view(chunk));
  file.write(std::string_view(rows.labels));
  file.commit(AtomicFile::Durable::kLater);
}

}  // namespace

void ContentSum::add(const ContentSum& more) {
  low += more.low;
  high += more.high;
}

std::string ContentSum::text() const {
  return fmt::format("{:016x}{:016x}", high, low);
}

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

void for_each_row(const PartFiles& files, std::uint64_t first, std::uint64_t end,
                  const std::function<void(std::uint64_t, const GroupedReview&)>& visit) {
  auto file = static_cast<std::size_t>(
      std::upper_bound(files.first_rows.begin(), files.first_rows.end(), first) -
      files.first_rows.begin() - 1);
  for (std::uint64_t row = first; row < end; ++file) {
    GroupReader reader(files.paths[file]);
    reader.seek(row - files.first_rows[file]);
    for (GroupedReview review; row < end && reader.next(review); ++row) visit(row, review);
  }
}

void number_rows(const NumberTask& task, const WordNumbers& words,
                 const PrepareSettings& settings) {
  const bool narrow = words.end() <= (1U << 16);
  write_numbered(task.path, narrow ? Numbering<std::uint16_t>(task, words, settings).run()
                                   : Numbering<std::uint32_t>(task, words, settings).run());
}

NumberedRows read_numbered(const fs::path& path) {
  const std::string bytes = read_text(path);
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  const auto take = [&](void* into, std::size_t count) {
    if (static_cast<std::size_t>(end - at) < count) {
      throw DataError("{} is cut off: begin anew with --fresh", path.string());
    }
    std::memcpy(into, at, count);
    at += count;
  };
  NumberedHead head;
  take(&head, sizeof head);
  if (head.chunks > kTaskRows)
    throw DataError("{} is damaged: begin anew with --fresh", path.string());
  NumberedRows rows;
  rows.sum = head.sum;
  rows.words = head.words;
  rows.unknown = head.unknown;
  std::vector<std::uint64_t> sizes(head.chunks);
  take(sizes.data(), sizes.size() * sizeof(std::uint64_t));
  for (const std::uint64_t size : sizes) {
    rows.ids.emplace_back(std::min<std::uint64_t>(size, bytes.size()), '\0');
    take(rows.ids.back().data(), size);
  }
  rows.labels.resize(std::min<std::uint64_t>(head.label_bytes, bytes.size()));
  take(rows.labels.data(), head.label_bytes);
  return rows;
}

}  // namespace paceline
