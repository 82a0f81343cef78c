// The flat gradient cut into buckets: what one sum over the ring carries.
//
// Buckets are spans of the vector, numbered from its front: the front is what a forward
// pass needs first. A backward pass completes them from the back; they leave in that order
// on every worker, so that all meet in the same sums.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/range.h"

namespace paceline {

inline constexpr std::uint64_t kBucketFloats = std::uint64_t{1} << 21;  // 8 MiB

class Buckets {
 public:
  // Each of `apart`, in ascending order, is a bucket of its own, however long.
  Buckets(std::uint64_t floats, std::uint64_t most_floats = kBucketFloats,
          std::span<const Range> apart = {});

  std::size_t size() const { return ranges_.size(); }
  Range floats(std::size_t bucket) const { return ranges_[bucket]; }
  Range overlapping(Range floats) const;  // bucket numbers

  // A new step: nothing is ready.
  void clear();
  // These floats are final, for the first time in this step.
  void ready(Range floats);
  // The next bucket to leave, if it is complete; each is returned once per step.
  std::optional<std::size_t> take();
  bool all_taken() const { return next_ == 0; }

 private:
  void cut(Range floats, std::uint64_t most_floats);

  std::vector<Range> ranges_;
  std::vector<std::uint64_t> missing_;  // floats per bucket that are not final
  std::size_t next_ = 0;                // one above the bucket that leaves next
};

}  // namespace paceline
