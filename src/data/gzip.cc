#include "data/gzip.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file/file.h"
#include "base/units.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kReadAhead = 1 << 18;
constexpr std::size_t kMostPerCall = 1 << 30;  // zlib counts in int
constexpr std::string_view kMagic = "\x1F\x8B";

}  // namespace

GzipReader::GzipReader(fs::path path) : path_(std::move(path)) {
  const int opened = open_regular_file(path_);
  struct stat status {};
  if (::fstat(opened, &status) == 0) file_ = ::gzdopen(opened, "rb");
  if (!file_) {
    ::close(opened);
    throw DataError("cannot read {}: {}", path_.string(), errno_text(errno));
  }
  stored_bytes_ = static_cast<std::uint64_t>(status.st_size);
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

struct GzipStream::Impl {
  ByteSource source;
  std::string name;
  std::vector<std::byte> stored = std::vector<std::byte>(kReadAhead);
  z_stream stream{};
  bool member_open = false;  // one has begun and not ended; a file may have several

  void refill() {
    stream.next_in = reinterpret_cast<Bytef*>(stored.data());
    stream.avail_in = static_cast<uInt>(source(stored));
  }
  bool at_member() const {
    return stream.avail_in > 0 && stream.next_in[0] == static_cast<Bytef>(kMagic[0]) &&
           (stream.avail_in == 1 || stream.next_in[1] == static_cast<Bytef>(kMagic[1]));
  }
};

bool GzipStream::has_magic(std::string_view beginning) {
  return beginning.starts_with(kMagic);
}

GzipStream::GzipStream(ByteSource source, std::string name) : impl_(std::make_unique<Impl>()) {
  constexpr int kGzipAlone = 16;
  impl_->source = std::move(source);
  impl_->name = std::move(name);
  if (::inflateInit2(&impl_->stream, kGzipAlone + MAX_WBITS) != Z_OK) throw std::bad_alloc();
}

GzipStream::~GzipStream() {
  ::inflateEnd(&impl_->stream);
}

// What follows the last member is none of its content, as for gzip itself.
std::size_t GzipStream::read(std::span<std::byte> into) {
  z_stream& stream = impl_->stream;
  std::size_t filled = 0;
  while (filled < into.size()) {
    if (stream.avail_in == 0) impl_->refill();
    if (!impl_->member_open) {
      if (!impl_->at_member()) break;
      ::inflateReset(&stream);
      impl_->member_open = true;
    }
    const std::size_t room = std::min(into.size() - filled, kMostPerCall);
    stream.next_out = reinterpret_cast<Bytef*>(into.data() + filled);
    stream.avail_out = static_cast<uInt>(room);
    const int result = ::inflate(&stream, Z_NO_FLUSH);
    filled += room - stream.avail_out;
    if (result == Z_STREAM_END) {
      impl_->member_open = false;
    } else if (result != Z_OK) {
      throw DataError("{}: the compressed data is {}", impl_->name,
                      result == Z_BUF_ERROR ? "cut off" : "corrupt");
    }
  }
  return filled;
}

}  // namespace paceline
