#include "prepare/number_step.h"

#include <fmt/format.h>
#include <libdeflate.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file/file.h"
#include "data/words.h"

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

  // No larger than it need be: many are kept.
  std::string deflate(std::string_view bytes) {
    room_.resize(libdeflate_zlib_compress_bound(compressor_, bytes.size()));
    const std::size_t size = libdeflate_zlib_compress(compressor_, bytes.data(), bytes.size(),
                                                      room_.data(), room_.size());
    PACELINE_CHECK(size > 0);
    return {room_.data(), size};
  }

 private:
  libdeflate_compressor* compressor_;
  std::vector<char> room_;
};

std::vector<std::uint32_t> read_translation(const fs::path& path) {
  const std::string bytes = read_text(path);
  std::vector<std::uint32_t> numbers(bytes.size() / sizeof(std::uint32_t));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(std::uint32_t));
  return numbers;
}

std::uint64_t checksum_of(const NumberedRows& rows) {
  std::uint64_t sum = XXH3_64bits(rows.labels.data(), rows.labels.size());
  for (const std::string& chunk : rows.ids) {
    sum = XXH3_64bits_withSeed(chunk.data(), chunk.size(), sum);
  }
  return sum;
}

void write_numbered(const fs::path& path, const NumberedRows& rows) {
  std::vector<std::uint64_t> sizes = {rows.labels.size()};
  for (const std::string& chunk : rows.ids) sizes.push_back(chunk.size());
  const std::array<std::uint64_t, 2> head = {checksum_of(rows), sizes.size()};
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(head)));
  file.write(std::as_bytes(std::span(sizes)));
  file.write(std::string_view(rows.labels));
  for (const std::string& chunk : rows.ids) file.write(std::string_view(chunk));
  file.commit(AtomicFile::Durable::kLater);
}

// Rows of one width, the open chunk of which is filled and ended in turn.
template <typename Id>
class Numbering {
 public:
  Numbering(const NumberTask& task, const PrepareSettings& settings)
      : task_(task),
        length_(settings.length),
        chunk_rows_(chunk_rows(length_)),
        ids_(chunk_rows_ * length_) {}

  NumberReport run() {
    const PartRows& part = task_.rows;
    auto segment = static_cast<std::size_t>(
        std::upper_bound(part.first_rows.begin(), part.first_rows.end(), task_.first) -
        part.first_rows.begin() - 1);
    for (row_ = task_.first; row_ < task_.end; ++segment) {
      take_segment(part.segments[segment], part.first_rows[segment]);
    }
    if (in_chunk_ > 0) end_chunk();
    write();
    return report_;
  }

 private:
  void take_segment(const PartRows::Segment& segment, std::uint64_t first_row) {
    numbers_ = read_translation(segment.numbers);
    GroupReader reader(segment.rows);
    reader.seek(row_ - first_row);
    for (GroupedReview review; row_ < task_.end && reader.next(review); ++row_) take(review);
  }

  void take(const GroupedReview& review) {
    Id* const begin = ids_.data() + in_chunk_ * length_;
    Id* at = begin;
    PACELINE_CHECK(review.words.size() <= length_);
    for (const std::uint32_t word : review.words) {
      PACELINE_CHECK(word < numbers_.size());
      const std::uint32_t number = numbers_[word];
      report_.unknown += number == Vocabulary::kUnknown ? 1 : 0;
      *at++ = static_cast<Id>(number);
    }
    report_.words += review.words.size();
    std::fill(at, begin + length_, Id{Vocabulary::kPadding});
    const std::uint64_t seed =
        row_ * 8 + static_cast<std::uint64_t>(task_.rows.part) * 2 + review.label;
    const XXH128_hash_t hash = XXH3_128bits_withSeed(begin, length_ * sizeof(Id), seed);
    report_.sum.add({hash.low64, hash.high64});
    out_.labels += static_cast<char>(review.label);
    if (++in_chunk_ == chunk_rows_) end_chunk();
  }

  void end_chunk() {
    throw_if_stopped(task_.stop);
    const auto* bytes = reinterpret_cast<const char*>(ids_.data());
    const std::size_t filled = in_chunk_ * length_;
    in_chunk_ = 0;
    if (task_.chunks == Chunks::kPlain) {
      if (out_.ids.empty()) out_.ids.emplace_back();
      out_.ids[0].append(bytes, filled * sizeof(Id));
      return;
    }
    std::fill(ids_.begin() + static_cast<std::ptrdiff_t>(filled), ids_.end(), Id{0});
    out_.ids.push_back(deflater_.deflate({bytes, ids_.size() * sizeof(Id)}));
  }

  void write() {
    if (task_.chunks == Chunks::kDeflated) {
      out_.labels.resize(task_rows(length_));
      out_.labels = deflater_.deflate(out_.labels);
    }
    write_numbered(task_.path, out_);
  }

  const NumberTask& task_;
  std::size_t length_;
  std::size_t chunk_rows_;
  Deflater deflater_;
  std::vector<std::uint32_t> numbers_;  // of the segment at hand
  std::uint64_t row_ = 0;
  std::vector<Id> ids_;  // [chunk_rows, length]
  std::size_t in_chunk_ = 0;
  NumberedRows out_;
  NumberReport report_;
};

}  // namespace

void ContentSum::add(const ContentSum& more) {
  low += more.low;
  high += more.high;
}

std::string ContentSum::text() const {
  return fmt::format("{:016x}{:016x}", high, low);
}

void NumberReport::add(const NumberReport& more) {
  sum.add(more.sum);
  words += more.words;
  unknown += more.unknown;
}

nlohmann::json to_json(const NumberReport& report) {
  return {{"sum", {report.sum.low, report.sum.high}},
          {"words", report.words},
          {"unknown", report.unknown}};
}

NumberReport number_report(const nlohmann::json& json) {
  return from_report([&] {
    NumberReport report;
    json.at("sum").at(0).get_to(report.sum.low);
    json.at("sum").at(1).get_to(report.sum.high);
    json.at("words").get_to(report.words);
    json.at("unknown").get_to(report.unknown);
    return report;
  });
}

NumberReport number_rows(const NumberTask& task, const PrepareSettings& settings) {
  return task.numbers_end <= (1U << 16) ? Numbering<std::uint16_t>(task, settings).run()
                                        : Numbering<std::uint32_t>(task, settings).run();
}

NumberedRows read_numbered(const fs::path& path) {
  std::error_code none;
  if (!fs::exists(path, none)) {
    throw DataError("{} is missing: begin anew with --fresh", path.string());
  }
  const std::string bytes = read_text(path);
  std::size_t at = 0;
  const auto take = [&](std::uint64_t size) {
    if (size > bytes.size() - at) {
      throw DataError("{} is cut off: begin anew with --fresh", path.string());
    }
    at += size;
    return bytes.substr(at - size, size);
  };
  const auto number = [&] {
    std::uint64_t value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  };
  const std::uint64_t checksum = number();
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t count = number(); count > 0; --count) sizes.push_back(number());
  NumberedRows rows;
  if (!sizes.empty()) rows.labels = take(sizes[0]);
  for (std::size_t i = 1; i < sizes.size(); ++i) rows.ids.push_back(take(sizes[i]));
  if (sizes.empty() || at != bytes.size() || checksum_of(rows) != checksum) {
    throw DataError("{} is damaged: begin anew with --fresh", path.string());
  }
  return rows;
}

void join_numbered(const std::vector<fs::path>& plain, std::uint32_t length, std::uint32_t id_bytes,
                   const fs::path& path) {
  std::string ids;
  NumberedRows joined;
  for (const fs::path& part : plain) {
    const NumberedRows rows = read_numbered(part);
    for (const std::string& some : rows.ids) ids += some;
    joined.labels += rows.labels;
  }
  PACELINE_CHECK(joined.labels.size() <= task_rows(length));
  Deflater deflater;
  const std::size_t chunk = chunk_rows(length) * length * id_bytes;
  ids.resize((ids.size() + chunk - 1) / chunk * chunk);
  for (std::size_t at = 0; at < ids.size(); at += chunk) {
    joined.ids.push_back(deflater.deflate(std::string_view(ids).substr(at, chunk)));
  }
  joined.labels.resize(task_rows(length));
  joined.labels = deflater.deflate(joined.labels);
  write_numbered(path, joined);
}

}  // namespace paceline
