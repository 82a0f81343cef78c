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
  ByteSource source;
  std::string name;
  std::unique_ptr<ZSTD_DStream, decltype(&::ZSTD_freeDStream)> stream{::ZSTD_createDStream(),
                                                                      &::ZSTD_freeDStream};
  std::vector<std::byte> stored = std::vector<std::byte>(::ZSTD_DStreamInSize());
  ZSTD_inBuffer in{};
  std::uint64_t read = 0;
  bool frame_open = false;  // a frame has begun and not ended

  // False at the end.
  bool refill() {
    in = {stored.data(), source(stored), 0};
    read += in.size;
    return in.size > 0;
  }
};

bool ZstdReader::has_magic(std::string_view beginning) {
  return beginning.starts_with("\x28\xB5\x2F\xFD");
}

bool ZstdReader::is_one(const fs::path& path) {
  std::array<char, 4> first{};
  std::ifstream(path, std::ios::binary).read(first.data(), first.size());
  return has_magic(std::string_view(first.data(), first.size()));
}

ZstdReader::ZstdReader(ByteSource source, std::string name) : impl_(std::make_unique<Impl>()) {
  impl_->source = std::move(source);
  impl_->name = std::move(name);
}

ZstdReader::ZstdReader(const fs::path& path)
    : ZstdReader(
          [path, file = std::make_shared<std::ifstream>(path, std::ios::binary)](
              std::span<std::byte> into) {
            file->read(reinterpret_cast<char*>(into.data()),
                       static_cast<std::streamsize>(into.size()));
            if (!file->is_open() || file->bad()) throw DataError("cannot read {}", path.string());
            return static_cast<std::size_t>(file->gcount());
          },
          path.string()) {}

ZstdReader::~ZstdReader() = default;

std::size_t ZstdReader::read(std::span<std::byte> into) {
  ZSTD_outBuffer out{into.data(), into.size(), 0};
  while (out.pos < out.size) {
    const std::size_t before = out.pos;
    if (impl_->in.pos < impl_->in.size || impl_->frame_open) {
      const std::size_t result = ::ZSTD_decompressStream(impl_->stream.get(), &out, &impl_->in);
      if (::ZSTD_isError(result) != 0) {
        throw DataError("{}: the compressed data is corrupt ({}): fetch it again", impl_->name,
                        ::ZSTD_getErrorName(result));
      }
      impl_->frame_open = result != 0;
    }
    if (out.pos > before || impl_->in.pos < impl_->in.size) continue;
    if (impl_->refill()) continue;
    if (!impl_->frame_open) break;
    throw DataError("{}: the compressed data is cut off: fetch it again", impl_->name);
  }
  return out.pos;
}

std::uint64_t ZstdReader::consumed() const {
  return impl_->read - (impl_->in.size - impl_->in.pos);
}

}  // namespace paceline
