#include "prepare/sliced_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/error.h"
#include "base/file/read_at.h"

namespace paceline {

std::uint64_t checksum_of_record(std::string_view record) {
  return XXH3_64bits(record.data(), record.size());
}

BufferedFile& SlicedWriter::begin_record(std::size_t slice) {
  while (slice_ < slice) tail_.begins[++slice_] = file_.size();
  record_ = file_.size();
  return file_;
}

void SlicedWriter::end_record() {
  tail_.checksums[slice_] += checksum_of_record(file_.since(record_));
  file_.end_item();
}

void SlicedWriter::commit() {
  while (slice_ < kSlices) tail_.begins[++slice_] = file_.size();
  file_.add_items(&tail_, 1);
  file_.commit();
}

SlicedFile::SlicedFile(const std::filesystem::path& path, std::uint64_t magic)
    : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (file_ < 0) fail(errno_text(errno));
  const off_t size = ::lseek(file_, 0, SEEK_END);
  if (size < static_cast<off_t>(sizeof tail_)) fail("it is too short");
  read(static_cast<std::uint64_t>(size) - sizeof tail_, &tail_, sizeof tail_);
  if (tail_.magic != magic || !std::is_sorted(tail_.begins.begin(), tail_.begins.end()) ||
      tail_.begins.back() + sizeof tail_ != static_cast<std::uint64_t>(size)) {
    fail("its end is damaged");
  }
}

SlicedFile::~SlicedFile() {
  if (file_ >= 0) ::close(file_);
}

SlicedFile::SlicedFile(SlicedFile&& other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)), tail_(other.tail_) {}

void SlicedFile::fail(const std::string& how) const {
  throw DataError("{} cannot be used: {}. Begin anew with --fresh", path_.string(), how);
}

void SlicedFile::read(std::uint64_t from, void* into, std::size_t bytes) const {
  const auto got = read_at(file_, from, {static_cast<std::byte*>(into), bytes});
  if (!got) fail(errno_text(errno));
  if (*got < bytes) fail("it is cut off");
}

FilePiece SlicedFile::piece(SliceRange slices) const {
  SliceTail tail;
  tail.magic = tail_.magic;
  for (std::size_t slice = 0; slice < kSlices; ++slice) {
    tail.begins[slice + 1] = tail.begins[slice];
    if (slice < slices.first || slice >= slices.end) continue;
    tail.begins[slice + 1] += end(slice) - begin(slice);
    tail.checksums[slice] = tail_.checksums[slice];
  }
  return {path_, tail_.begins[slices.first], tail_.begins[slices.end],
          std::string(reinterpret_cast<const char*>(&tail), sizeof tail)};
}

}  // namespace paceline
