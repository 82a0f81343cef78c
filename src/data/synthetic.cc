#include "data/synthetic.h"

#include <utility>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "data/in_memory.h"

namespace paceline {
namespace {

// What the random bits at (seed, {purpose, …}) are for.
enum Drawn : std::uint64_t { kPrototype, kLabel, kNoise };

void fill_random(std::uint64_t seed, std::span<std::uint8_t> bytes) {
  Random random(seed);
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i % sizeof bits == 0) bits = random.bits();
    bytes[i] = static_cast<std::uint8_t>(bits);
    bits >>= 8;
  }
}

std::vector<std::uint8_t> make_prototypes(const SyntheticOptions& options) {
  std::vector<std::uint8_t> prototypes(static_cast<std::size_t>(options.classes) *
                                       width_of(options));
  fill_random(random_bits(options.seed, {kPrototype}), prototypes);
  return prototypes;
}

// Of 256 parts of a byte, 77 are the prototype's and 179 are noise: with 64 bytes to an
// example, about one in twenty lies nearer to another class.
void make_row(std::uint64_t seed, const std::uint8_t* prototype, std::span<std::uint8_t> row) {
  fill_random(seed, row);
  for (std::size_t i = 0; i < row.size(); ++i) {
    row[i] = static_cast<std::uint8_t>((77u * prototype[i] + 179u * row[i]) >> 8);
  }
}

}  // namespace

std::unique_ptr<Dataset> make_synthetic(const SyntheticOptions& options, Range numbers,
                                        const std::string& name) {
  const std::size_t width = width_of(options);
  if (numbers.empty() || width == 0 || options.classes < 1) {
    throw ConfigError("{}: {} examples of {} bytes in {} classes: each must be at least 1", name,
                      numbers.size(), width, options.classes);
  }
  const auto prototypes = make_prototypes(options);
  Buffer rows(numbers.size() * width);
  std::vector<std::int32_t> labels(numbers.size());
  for (std::uint64_t i = 0; i < numbers.size(); ++i) {
    const std::uint64_t number = numbers.begin + i;
    const std::uint64_t label = Random(random_bits(options.seed, {kLabel, number}))
                                    .below(static_cast<std::uint64_t>(options.classes));
    labels[i] = static_cast<std::int32_t>(label);
    auto* row = reinterpret_cast<std::uint8_t*>(rows.data()) + i * width;
    make_row(random_bits(options.seed, {kNoise, number}), prototypes.data() + label * width,
             {row, width});
  }
  return std::make_unique<InMemoryDataset>(name, width, options.classes, std::move(rows),
                                           std::move(labels), image_of(options));
}

}  // namespace paceline
