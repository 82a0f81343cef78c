#include "prepare/runs.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.h"
#include "base/large_pages.h"
#include "prepare/line_reader.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kRunMagic = 0x314E555245434150;  // "PACERUN1"

struct RecordHead {
  std::uint64_t hash;
  std::uint32_t bytes;
  std::uint16_t kinds;   // ratings that follow; 0: one, of `rating`
  std::uint16_t rating;  // which it had once
};
static_assert(sizeof(RecordHead) == 16);

// Adds the counts of `more` to those of `ratings`, which stay in ascending order.
void add_ratings(std::vector<RatingCount>& ratings, std::span<const RatingCount> more) {
  for (const RatingCount& one : more) {
    const auto at = std::lower_bound(
        ratings.begin(), ratings.end(), one.rating,
        [](const RatingCount& known, std::uint32_t rating) { return known.rating < rating; });
    if (at != ratings.end() && at->rating == one.rating) {
      at->count += one.count;
    } else {
      ratings.insert(at, one);
    }
  }
}

}  // namespace

std::uint64_t hash_of_text(std::string_view text) {
  return XXH3_64bits(text.data(), text.size());
}

// ---- writing -----------------------------------------------------------------------------

RunWriter::RunWriter(const fs::path& path) : file_(path, kRunMagic) {}

void RunWriter::add(const RatedText& text) {
  const bool once = text.ratings.size() == 1 && text.ratings[0].count == 1;
  const RecordHead head{
      text.hash, static_cast<std::uint32_t>(text.text.size()),
      once ? std::uint16_t{0} : static_cast<std::uint16_t>(text.ratings.size()),
      once ? static_cast<std::uint16_t>(text.ratings[0].rating) : std::uint16_t{0}};
  BufferedFile& file = file_.begin_record(slice_of(text.hash));
  file.add_items(&head, 1);
  if (!once) file.add_items(text.ratings.data(), text.ratings.size());
  file.add(text.text);
  file_.end_record();
}

RunBuilder::RunBuilder(std::size_t memory)
    : memory_(std::min<std::size_t>(memory, std::size_t{1} << 31)),
      texts_(large_page_buffer(memory_)) {}

bool RunBuilder::full() const {
  // Growing holds the entries, and twice as many.
  const std::size_t growth =
      entries_.size() == entries_.capacity() ? 2 * entries_.size() * sizeof(Entry) : 0;
  return held() + growth + 3 * LineReader::kMostLineBytes > memory_;
}

std::size_t RunBuilder::held() const {
  return most_used_ + entries_.capacity() * sizeof(Entry);
}

void RunBuilder::add(std::string_view text, Rating rating, std::uint32_t times) {
  PACELINE_CHECK(used_ + text.size() <= memory_);
  std::memcpy(texts_.data() + used_, text.data(), text.size());
  entries_.push_back({hash_of_text(text), static_cast<std::uint32_t>(used_),
                      static_cast<std::uint32_t>(text.size()), times, rating});
  used_ += text.size();
  most_used_ = std::max(most_used_, used_);
}

// Its first lines of cache; the processor goes on by itself.
void RunBuilder::fetch(const Entry& entry) const {
  constexpr std::size_t kLine = 64;
  constexpr std::size_t kMost = 4 * kLine;
  const std::string_view text = text_of(entry).substr(0, kMost);
  for (std::size_t i = 0; i < text.size(); i += kLine) __builtin_prefetch(text.data() + i);
}

void RunBuilder::write(const fs::path& path) {
  std::sort(entries_.begin(), entries_.end(), [this](const Entry& a, const Entry& b) {
    if (a.hash != b.hash) return a.hash < b.hash;
    if (const int order = text_of(a).compare(text_of(b)); order != 0) return order < 0;
    return a.rating < b.rating;
  });
  RunWriter writer(path);
  std::vector<RatingCount> ratings;
  constexpr std::ptrdiff_t kAhead = 4;  // texts are in no order now
  for (auto at = entries_.begin(); at != entries_.end();) {
    if (entries_.end() - at > kAhead) fetch(at[kAhead]);
    const RatedText text{at->hash, text_of(*at), {}};
    ratings.clear();
    do {
      if (ratings.empty() || ratings.back().rating != at->rating)
        ratings.push_back({0, at->rating, 0});
      ratings.back().count += at->times;
      ++at;
    } while (at != entries_.end() && at->hash == text.hash && text_of(*at) == text.text);
    writer.add({text.hash, text.text, ratings});
  }
  writer.commit();
  entries_.clear();
  used_ = 0;
}

// ---- reading -----------------------------------------------------------------------------

SlicedFile open_run(const fs::path& path) {
  return SlicedFile(path, kRunMagic);
}

struct RunReader::Impl {
  SlicedFile file;
  std::vector<char> buffer{};
  std::size_t at = 0;        // in the buffer
  std::size_t filled = 0;    // of it
  std::uint64_t offset = 0;  // of what follows the buffer, in the file
  std::size_t slice = 0;
  std::uint64_t checksum = 0;
  std::array<RatingCount, 1> once{};
  std::vector<RatingCount> ratings{};

  // Makes `bytes` of the slice lie in the buffer, from `at` on.
  const char* need(std::size_t bytes) {
    if (filled - at < bytes) {
      std::memmove(buffer.data(), buffer.data() + at, filled - at);
      filled -= at;
      at = 0;
      const std::uint64_t left = file.end(slice) - offset;
      if (bytes > filled + left) file.fail("its records are damaged");
      if (bytes > buffer.size()) buffer.resize(2 * bytes);
      const auto some =
          static_cast<std::size_t>(std::min<std::uint64_t>(left, buffer.size() - filled));
      file.read(offset, buffer.data() + filled, some);
      offset += some;
      filled += some;
    }
    return buffer.data() + at;
  }
};

RunReader::RunReader(const fs::path& path, std::size_t buffer_bytes)
    : impl_(std::make_unique<Impl>(
          Impl{.file = open_run(path), .buffer = std::vector<char>(buffer_bytes)})) {}

RunReader::~RunReader() = default;
RunReader::RunReader(RunReader&&) noexcept = default;

void RunReader::begin(std::size_t slice) {
  impl_->slice = slice;
  impl_->offset = impl_->file.begin(slice);
  impl_->at = impl_->filled = 0;
  impl_->checksum = 0;
}

bool RunReader::next(RatedText& text) {
  Impl& my = *impl_;
  if (my.at == my.filled && my.offset == my.file.end(my.slice)) {
    if (my.checksum != my.file.checksum(my.slice)) my.file.fail("its records are damaged");
    return false;
  }
  RecordHead head{};
  std::memcpy(&head, my.need(sizeof head), sizeof head);
  const std::size_t ratings = head.kinds * sizeof(RatingCount);
  const std::size_t bytes = sizeof head + ratings + head.bytes;
  const char* record = my.need(bytes);
  my.checksum += checksum_of_record({record, bytes});
  text.hash = head.hash;
  text.text = {record + sizeof head + ratings, head.bytes};
  if (head.kinds == 0) {
    my.once[0] = {1, head.rating, 0};
    text.ratings = my.once;
  } else {
    my.ratings.resize(head.kinds);
    std::memcpy(my.ratings.data(), record + sizeof head, ratings);
    text.ratings = my.ratings;
  }
  my.at += bytes;
  return true;
}

// ---- merging -----------------------------------------------------------------------------

RunMerger::RunMerger(std::vector<RunReader>& runs, std::size_t slice)
    : runs_(runs), heads_(runs.size()) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].begin(slice);
    if (runs[i].next(heads_[i])) heap_.push_back(i);
  }
  for (std::size_t i = heap_.size(); i-- > 0;) sift_down(i);
}

bool RunMerger::before(std::size_t a, std::size_t b) const {
  if (heads_[a].hash != heads_[b].hash) return heads_[a].hash < heads_[b].hash;
  return heads_[a].text < heads_[b].text;
}

void RunMerger::sift_down(std::size_t at) {
  while (true) {
    std::size_t least = 2 * at + 1;
    if (least >= heap_.size()) return;
    if (least + 1 < heap_.size() && before(heap_[least + 1], heap_[least])) ++least;
    if (!before(heap_[least], heap_[at])) return;
    std::swap(heap_[at], heap_[least]);
    at = least;
  }
}

bool RunMerger::next(RatedText& text) {
  if (heap_.empty()) return false;
  text.hash = heads_[heap_[0]].hash;
  text_.assign(heads_[heap_[0]].text);
  ratings_.clear();
  do {
    const std::size_t run = heap_[0];
    add_ratings(ratings_, heads_[run].ratings);
    if (!runs_[run].next(heads_[run])) {
      heap_[0] = heap_.back();
      heap_.pop_back();
    }
    sift_down(0);
  } while (!heap_.empty() && heads_[heap_[0]].hash == text.hash && heads_[heap_[0]].text == text_);
  text.text = text_;
  text.ratings = ratings_;
  return true;
}

void merge_runs(const std::vector<fs::path>& runs, SliceRange slices, const fs::path& path,
                std::size_t buffer_bytes) {
  std::vector<RunReader> readers;
  readers.reserve(runs.size());
  for (const fs::path& run : runs) readers.emplace_back(run, buffer_bytes);
  RunWriter writer(path);
  for (std::size_t slice = slices.first; slice < slices.end; ++slice) {
    RunMerger merger(readers, slice);
    for (RatedText text; merger.next(text);) writer.add(text);
  }
  writer.commit();
}

}  // namespace paceline
