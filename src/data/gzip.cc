#include "data/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/units.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kReadAhead = 1 << 18;
constexpr std::size_t kMostPerCall = 1 << 30;  // zlib counts in int

}  // namespace

GzipReader::GzipReader(fs::path path) : path_(std::move(path)) {
  std::error_code error;
  if (fs::is_directory(path_, error)) {
    throw DataError("cannot read {}: it is a folder", path_.string());
  }
  stored_bytes_ = fs::file_size(path_, error);
  if (error) throw DataError("cannot read {}: {}", path_.string(), error.message());
  file_ = ::gzopen(path_.c_str(), "rb");
  if (!file_) throw DataError("cannot read {}: {}", path_.string(), errno_text(errno));
  ::gzbuffer(file_, kReadAhead);
  compressed_ = ::gzdirect(file_) == 0;
}

GzipReader::~GzipReader() {
  ::gzclose(file_);
}

std::size_t GzipReader::read(std::span<std::byte> into) {
  std::size_t filled = 0;
  while (filled < into.size()) {
    const std::size_t wanted = std::min(into.size() - filled, kMostPerCall);
    const int got = ::gzread(file_, into.data() + filled, static_cast<unsigned>(wanted));
    if (got < 0) fail();
    filled += static_cast<std::size_t>(got);
    if (static_cast<std::size_t>(got) < wanted) break;
  }
  // At the end of a compressed file that is cut off, zlib returns what there is and only
  // remembers the error.
  int error = Z_OK;
  ::gzerror(file_, &error);
  if (error != Z_OK && filled < into.size()) fail();
  return filled;
}

void GzipReader::fail() const {
  int error = Z_OK;
  const std::string_view sentence = ::gzerror(file_, &error);
  if (error == Z_ERRNO) throw DataError("cannot read {}: {}", path_.string(), errno_text(errno));
  throw DataError("{}: the compressed data is {} ({}; the file has {} bytes): fetch it again",
                  path_.string(), error == Z_BUF_ERROR ? "cut off" : "corrupt", sentence,
                  format_count(stored_bytes_));
}

std::uint64_t GzipReader::consumed() const {
  return static_cast<std::uint64_t>(std::max<z_off_t>(0, ::gzoffset(file_)));
}

std::uint64_t GzipReader::most_bytes() const {
  // Deflate's densest code is 2 bits for a run of 258 bytes.
  constexpr std::uint64_t kMostExpansion = 1032;
  return compressed_ ? stored_bytes_ * kMostExpansion : stored_bytes_;
}

}  // namespace paceline
