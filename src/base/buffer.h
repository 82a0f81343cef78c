// Memory for parameters, gradients and payloads: aligned to cache lines and to the
// widest vector registers, never initialized unless asked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace paceline {

inline constexpr std::size_t kBufferAlignment = 64;

class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t bytes);  // throws ResourceError when there is no memory
  Buffer(Buffer&& other) noexcept;     // the other is empty afterwards
  Buffer& operator=(Buffer&& other) noexcept;

  static Buffer zeros(std::size_t bytes);
  static Buffer floats(std::size_t count) { return zeros(count * sizeof(float)); }

  // Has this size from now on, and what is in it is undefined. Memory that is large enough is kept.
  void resize(std::size_t bytes);

  std::size_t size() const { return size_; }
  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }
  std::span<std::byte> bytes() { return {data(), size_}; }
  std::span<const std::byte> bytes() const { return {data(), size_}; }
  std::span<float> as_floats() { return {reinterpret_cast<float*>(data()), size_ / sizeof(float)}; }
  std::span<const float> as_floats() const {
    return {reinterpret_cast<const float*>(data()), size_ / sizeof(float)};
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte[], Free> data_;
  std::size_t size_ = 0;
  std::size_t room_ = 0;  // bytes that it has memory for
};

// A buffer of this size that nobody else holds: `buffer`, or a new one in its place. Whoever held
// it must have let go in a way that this thread knows of, such as under a common lock.
Buffer& own_buffer(std::shared_ptr<Buffer>& buffer, std::size_t bytes);

}  // namespace paceline
