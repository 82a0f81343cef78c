// Sums of a linear model → probabilities, row by row.
#pragma once

#include <cstdint>
#include <span>

#include "model/linear/kernels.h"

namespace paceline {

// The loss of a row is log(sum) + gap. It is correct when no class is more probable than
// its label, and no lower class as probable.
struct SoftmaxTerms {
  float sum = 0;  // of exp(logit − largest logit)
  float gap = 0;  // largest logit − logit of the label
  bool correct = false;
};

// outputs[e, :] = softmax(scale · outputs[e, :] + bias). A logit that is not a number
// makes its row's loss not a number. Labels are in range.
void softmax_rows(std::span<const std::int32_t> labels, float scale, std::span<const float> bias,
                  LinearScratch& scratch, std::span<SoftmaxTerms> terms);

}  // namespace paceline
