// Where values come from that a run starts with or goes on from: vector 0 are the parameters, 1 + s
// the optimizer's slot s. They are read in parts, so that nobody needs all of them in memory.
//
// A checkpoint on this host is one (CheckpointReader). Whoever takes values from one need not know
// where they lie.
#pragma once

#include <cstdint>
#include <span>

#include "base/range.h"

namespace paceline {

struct CheckpointInfo;

class ValueSource {
 public:
  virtual ~ValueSource() = default;
  virtual const CheckpointInfo& info() const = 0;
  // After an exception the contents of `out` mean nothing. Throws DataError.
  virtual void read(std::uint64_t vector, Range floats, std::span<float> out) const = 0;
};

}  // namespace paceline
