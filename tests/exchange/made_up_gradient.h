// A gradient that is a function of what it is of, for exchanges that need no model.
#pragma once

#include <cstdint>
#include <span>

#include "base/random.h"

namespace paceline {

// "Gradient" of a position: depends on the parameters, so that order and version matter.
inline void add_gradient(std::uint64_t step, std::uint64_t position,
                         std::span<const float> parameters, std::span<float> gradient) {
  Random random(mix(step * 1000 + position));
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    gradient[i] += static_cast<float>(random.normal()) + 0.1F * parameters[i];
  }
}

}  // namespace paceline
