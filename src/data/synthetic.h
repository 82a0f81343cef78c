// Examples made up from a seed: for tests, and for runs of any size without any data.
//
// Each class has a prototype of random bytes; an example is its class's prototype under
// heavy noise, so a linear model learns to tell the classes apart, but not at once. An
// example is a pure function of (seed, its number).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/range.h"
#include "data/dataset.h"

namespace paceline {

struct SyntheticOptions {
  std::uint64_t examples = 10'000;
  std::uint64_t test_examples = 2'000;
  std::size_t width = 64;
  std::uint32_t image = 0;  // more than 0: square colour images with sides of so many pixels
  std::int32_t classes = 10;
  std::uint64_t seed = 1;
};

inline ImageShape image_of(const SyntheticOptions& options) {
  return options.image > 0 ? ImageShape{options.image, options.image, 3} : ImageShape{};
}
inline std::size_t width_of(const SyntheticOptions& options) {
  return options.image > 0 ? image_of(options).bytes() : options.width;
}

// The examples numbered `numbers`; the same number is the same example in any range.
// Throws ConfigError when there are no examples, classes or bytes to make.
std::unique_ptr<Dataset> make_synthetic(const SyntheticOptions& options, Range numbers,
                                        const std::string& name);

}  // namespace paceline
