// Sums over flat spans: what servers do with gradients before the optimizer.
//
// Results depend on the values alone: not on the alignment of the spans, nor on which
// instruction set the processor has.
#pragma once

#include <span>

namespace paceline {

// to[i] += from[i]; spans of one length.
void add(std::span<float> to, std::span<const float> from);

// Norms of parts of a vector add up; the norm itself is the root of the sum.
struct Norm {
  double sum_of_squares = 0;
  bool finite = true;  // every element is

  Norm& operator+=(const Norm& other);
  double value() const;
};
Norm norm(std::span<const float> values);
bool all_finite(std::span<const float> values);  // in about half the time of norm()

// The factor that brings a vector of length `norm` to at most `limit`; a limit of 0 is none.
double clip_scale(double norm, double limit);

}  // namespace paceline
