#include "net/body_checksum.h"

#include <new>

#include "base/xxh3.h"

namespace paceline {
namespace {

XXH3_state_t* xxh3(void* state) {
  return static_cast<XXH3_state_t*>(state);
}

}  // namespace

void BodyChecksum::Free::operator()(void* state) const {
  XXH3_freeState(xxh3(state));
}

void BodyChecksum::start() {
  if (!state_) state_.reset(XXH3_createState());
  if (!state_) throw std::bad_alloc();
  XXH3_64bits_reset(xxh3(state_.get()));
}

void BodyChecksum::add(std::span<const std::byte> bytes) {
  if (!bytes.empty()) XXH3_64bits_update(xxh3(state_.get()), bytes.data(), bytes.size());
}

std::uint32_t BodyChecksum::value() const {
  return static_cast<std::uint32_t>(XXH3_64bits_digest(xxh3(state_.get())));
}

}  // namespace paceline
