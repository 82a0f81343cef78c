#include "base/random.h"

#include <bit>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace paceline {
namespace {

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;

}  // namespace

// The finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

std::uint64_t random_bits(std::uint64_t seed, std::initializer_list<std::uint64_t> coordinates) {
  std::uint64_t state = mix(seed + kGolden);
  for (const std::uint64_t c : coordinates) state = mix((state ^ c) + kGolden);
  return state;
}

std::uint64_t Random::bits() {
  state_ += kGolden;
  return mix(state_);
}

std::uint64_t Random::below(std::uint64_t bound) {
  PACELINE_CHECK(bound > 0);
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(bits()) * bound) >> 64);
}

double Random::uniform() {
  return static_cast<double>(bits() >> 11) * 0x1p-53;
}

double Random::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

// A Feistel network over the smallest even number of bits that holds `size`; values that
// fall outside are encrypted again until they fall inside. The network's domain is less
// than four times the size, so that takes fewer than four turns on average. Four rounds
// make every place equally likely, but for a handful of indices, whose halves have too
// few bits for that, it takes more.
Permutation::Permutation(std::uint64_t seed, std::uint64_t size)
    : seed_(mix(seed + kGolden)), size_(size), half_bits_(1) {
  if (size > 1) half_bits_ = (static_cast<unsigned>(std::bit_width(size - 1)) + 1) / 2;
}

std::uint64_t Permutation::encrypt(std::uint64_t index) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = index >> half_bits_;
  std::uint64_t right = index & mask;
  const int rounds = half_bits_ < 5 ? 12 : 4;
  std::uint64_t key = seed_;
  for (int round = 0; round < rounds; ++round) {
    key += kGolden;
    const std::uint64_t next = left ^ (mix(right ^ key) & mask);
    left = right;
    right = next;
  }
  return (left << half_bits_) | right;
}

std::uint64_t Permutation::apply(std::uint64_t index) const {
  PACELINE_CHECK(index < size_);
  do {
    index = encrypt(index);
  } while (index >= size_);
  return index;
}

void Permutation::apply(std::uint64_t first, std::span<std::uint64_t> into) const {
  PACELINE_CHECK(first + into.size() <= size_);
  for (std::uint64_t& index : into) index = encrypt(first++);
  for (std::uint64_t& index : into) {
    while (index >= size_) index = encrypt(index);
  }
}

}  // namespace paceline
