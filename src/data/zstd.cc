#include "data/zstd.h"

#include <zstd.h>

#include <array>
#include <fstream>
#include <utility>
#include <vector>

#include "base/error.h"

namespace paceline {

namespace fs = std::filesystem;

struct ZstdReader::Impl {
  fs::path path;
  std::ifstream file;
  std::unique_ptr<ZSTD_DStream, decltype(&::ZSTD_freeDStream)> stream{::ZSTD_createDStream(),
                                                                      &::ZSTD_freeDStream};
  std::vector<char> stored;
  ZSTD_inBuffer in{};
  std::uint64_t read = 0;
  bool frame_open = false;  // a frame has begun and not ended

  // False at the end of the file.
  bool refill() {
    file.read(stored.data(), static_cast<std::streamsize>(stored.size()));
    if (file.bad()) throw DataError("cannot read {}", path.string());
    in.size = static_cast<std::size_t>(file.gcount());
    in.pos = 0;
    read += in.size;
    return in.size > 0;
  }
};

bool ZstdReader::is_one(const fs::path& path) {
  constexpr std::array<char, 4> kMagic = {'\x28', '\xB5', '\x2F', '\xFD'};
  std::array<char, 4> first{};
  std::ifstream(path, std::ios::binary).read(first.data(), first.size());
  return first == kMagic;
}

ZstdReader::ZstdReader(fs::path path) : impl_(std::make_unique<Impl>()) {
  impl_->path = std::move(path);
  impl_->file.open(impl_->path, std::ios::binary);
  if (!impl_->file) throw DataError("cannot read {}", impl_->path.string());
  impl_->stored.resize(::ZSTD_DStreamInSize());
  impl_->in.src = impl_->stored.data();
}

ZstdReader::~ZstdReader() = default;

std::size_t ZstdReader::read(std::span<std::byte> into) {
  ZSTD_outBuffer out{into.data(), into.size(), 0};
  while (out.pos < out.size) {
    const std::size_t before = out.pos;
    if (impl_->in.pos < impl_->in.size || impl_->frame_open) {
      const std::size_t result = ::ZSTD_decompressStream(impl_->stream.get(), &out, &impl_->in);
      if (::ZSTD_isError(result) != 0) {
        throw DataError("{}: the compressed data is corrupt ({}): fetch it again",
                        impl_->path.string(), ::ZSTD_getErrorName(result));
      }
      impl_->frame_open = result != 0;
    }
    if (out.pos > before || impl_->in.pos < impl_->in.size) continue;
    if (impl_->refill()) continue;
    if (!impl_->frame_open) break;
    throw DataError("{}: the compressed data is cut off: fetch it again", impl_->path.string());
  }
  return out.pos;
}

std::uint64_t ZstdReader::consumed() const {
  return impl_->read - (impl_->in.size - impl_->in.pos);
}

}  // namespace paceline
