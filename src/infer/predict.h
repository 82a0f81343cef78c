// `paceline predict`: what a trained model says of new examples.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace paceline {

// Of some examples.
struct Predictions {
  std::size_t classes = 0;
  std::vector<float> probabilities;    // [examples, classes]
  std::vector<float> numbers;          // in their place, of models that answer with a number
  std::vector<std::string> sentences;  // in their place, of models that answer with words
  std::vector<std::string> names;      // of the classes; empty: they have numbers only
};
using EachPredictions = std::function<void(const Predictions&)>;

// `target` is a run directory or a checkpoint, `input` what is to be labelled. `each` is called
// with some examples after the other, in their order.
void predict(const std::filesystem::path& target, const std::filesystem::path& input,
             const EachPredictions& each);

}  // namespace paceline
