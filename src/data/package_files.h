// What packages hold of known sets, in a form of their own. Throws DataError when it has another.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

// Lines LABEL <tab> TEXT.
struct ReviewLines {
  std::string train;
  std::string test;
};

// Of a JSON array of objects with a text "t" and a label "s", 0 or 1: the bad reviews first, then
// the good ones, and of each kind the test part first, as long as the other. What is in both parts
// is left out of the training part.
ReviewLines split_reviews(std::string_view json);

// Of a JSON array of numbers below `classes`.
std::vector<std::uint8_t> class_labels(std::string_view json, std::uint8_t classes);

}  // namespace paceline
