#include "exchange/allreduce/overwritten.h"

#include <algorithm>

namespace paceline {

Overwritten::Overwritten(std::uint64_t front, std::uint64_t all, std::uint64_t slots)
    : front_(front), all_(all), slots_(slots) {}

void Overwritten::keep(std::span<const float> values, std::span<const float> state) {
  floats_.resize(front_ * (1 + slots_));
  auto out = std::copy_n(values.begin(), front_, floats_.begin());
  for (std::uint64_t slot = 0; slot < slots_; ++slot) {
    out = std::ranges::copy(state.subspan(slot * all_, front_), out).out;
  }
  kept_ = true;
}

void Overwritten::restore(std::span<float> values, std::span<float> state) {
  if (!kept_) return;
  auto in = floats_.begin();
  std::copy_n(in, front_, values.begin());
  for (std::uint64_t slot = 0; slot < slots_; ++slot) {
    in += static_cast<std::ptrdiff_t>(front_);
    std::copy_n(in, front_, state.subspan(slot * all_, front_).begin());
  }
  kept_ = false;
}

}  // namespace paceline
