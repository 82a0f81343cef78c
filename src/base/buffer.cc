#include "base/buffer.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/units.h"

namespace paceline {

Buffer::Buffer(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  // Beyond this no address is far enough from another, and rounding up would wrap around.
  constexpr std::size_t kMost = PTRDIFF_MAX - kBufferAlignment;
  if (bytes <= kMost) {
    const std::size_t rounded =
        (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
    data_.reset(static_cast<std::byte*>(std::aligned_alloc(kBufferAlignment, rounded)));
  }
  if (!data_) {
    throw ResourceError("cannot allocate {} of memory: lower the number of roles on this host",
                        format_bytes(bytes));
  }
}

Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  data_ = std::move(other.data_);
  size_ = std::exchange(other.size_, 0);
  return *this;
}

Buffer Buffer::zeros(std::size_t bytes) {
  Buffer buffer(bytes);
  if (bytes > 0) std::memset(buffer.data(), 0, bytes);
  return buffer;
}

void Buffer::Free::operator()(std::byte* memory) const {
  std::free(memory);
}

}  // namespace paceline
