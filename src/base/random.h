// Randomness as a pure function of named coordinates: the same (seed, epoch, example, …)
// gives the same bits on every host, whoever asks, in whatever order.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

namespace paceline {

// A mixing function on 64 bits in which every input bit flips half of the output bits.
std::uint64_t mix(std::uint64_t value);

// 64 random bits at the given coordinates.
std::uint64_t random_bits(std::uint64_t seed, std::initializer_list<std::uint64_t> coordinates);

// A sequence of random numbers that starts at a seed; cheap to make, copyable.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits();
  std::uint64_t below(std::uint64_t bound);  // uniform in [0, bound), bound > 0
  double uniform();                          // in [0, 1)
  double normal();                           // mean 0, variance 1

 private:
  std::uint64_t state_;
};

// A random permutation of [0, size) that is never stored: apply(i) costs O(1).
class Permutation {
 public:
  Permutation(std::uint64_t seed, std::uint64_t size);
  std::uint64_t apply(std::uint64_t index) const;
  // Of the numbers from `first` on, as many as there are places.
  void apply(std::uint64_t first, std::span<std::uint64_t> into) const;

 private:
  std::uint64_t encrypt(std::uint64_t index) const;

  std::uint64_t seed_;
  std::uint64_t size_;
  unsigned half_bits_;
};

}  // namespace paceline
