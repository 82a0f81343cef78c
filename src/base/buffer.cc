#include "base/buffer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/units.h"

namespace paceline {

Buffer::Buffer(std::size_t bytes) : size_(bytes), room_(bytes) {
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
    : data_(std::move(other.data_)),
      size_(std::exchange(other.size_, 0)),
      room_(std::exchange(other.room_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  data_ = std::move(other.data_);
  size_ = std::exchange(other.size_, 0);
  room_ = std::exchange(other.room_, 0);
  return *this;
}

void Buffer::resize(std::size_t bytes) {
  if (bytes > room_) {
    // More than is asked for, when it was too small before: sizes may grow little by little.
    const std::size_t room = std::max(bytes, room_ + room_ / 4);
    *this = Buffer();
    *this = Buffer(room);
  }
  size_ = bytes;
}

Buffer Buffer::zeros(std::size_t bytes) {
  Buffer buffer(bytes);
  if (bytes > 0) std::memset(buffer.data(), 0, bytes);
  return buffer;
}

void Buffer::Free::operator()(std::byte* memory) const {
  std::free(memory);
}

Buffer& own_buffer(std::shared_ptr<Buffer>& buffer, std::size_t bytes) {
  if (!buffer || buffer.use_count() > 1) buffer = std::make_shared<Buffer>();
  buffer->resize(bytes);
  return *buffer;
}

}  // namespace paceline
