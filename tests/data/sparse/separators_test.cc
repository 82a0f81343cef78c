#include "data/sparse/separators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"

namespace paceline {
namespace {

std::vector<std::uint32_t> found_one_by_one(const std::string& line,
                                            const Separators::Marks& marks) {
  std::vector<std::uint32_t> places;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == marks[0] || line[i] == marks[1] || line[i] == marks[2]) {
      places.push_back(static_cast<std::uint32_t>(i));
    }
  }
  return places;
}

// From no mark at all to nothing but marks, at every length around that of a vector.
TEST(Separators, AreFoundWhereTheyAre) {
  const Separators::Marks marks = {' ', ':', '\t'};
  Random random(11);
  Separators separators;
  for (std::size_t length = 0; length < 300; ++length) {
    for (const std::uint64_t marked : {0U, 1U, 5U, 10U}) {
      std::string line;
      for (std::size_t i = 0; i < length; ++i) {
        line += random.below(10) < marked ? marks[random.below(3)]
                                          : static_cast<char>('\x7F' + random.below(120));
      }
      // In memory of its own, so that reading behind the line is seen by the sanitizer.
      const std::vector<char> exact(line.begin(), line.end());
      EXPECT_THAT(separators.find({exact.data(), exact.size()}, marks),
                  testing::ElementsAreArray(found_one_by_one(line, marks)));
    }
  }
}

}  // namespace
}  // namespace paceline
