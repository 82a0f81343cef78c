// The checksum of what follows a header: the low 32 bits of XXH3-64 over metadata and payload.
//
// Fed piece by piece, so that a receiver looks at bytes while they are in its cache. For one
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace paceline {

class BodyChecksum {
 public:
  void start();  // forgets what came before
  void add(std::span<const std::byte> bytes);
  std::uint32_t value() const;

 private:
  struct Free {
    void operator()(void* state) const;
  };
  std::unique_ptr<void, Free> state_;  // made by the first start(): most links need none
};

}  // namespace paceline
