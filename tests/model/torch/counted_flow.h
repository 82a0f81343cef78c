// Flows that watch how a model announces its gradient.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "model/model.h"

namespace paceline {

// Counts the floats that are announced: as many as there are, when each is once.
class CountedFlow : public Flow {
 public:
  void await(Range) override {}
  void ready(Range floats) override { announced += floats.size(); }
  std::uint64_t announced = 0;
};

// The next version of parameters arrives as soon as their gradient has left, and is useless.
class OverwritingFlow final : public CountedFlow {
 public:
  OverwritingFlow(std::vector<float>& parameters, bool factors)
      : parameters_(parameters), factors_(factors) {}
  void ready(Range floats) override {
    CountedFlow::ready(floats);
    std::fill_n(parameters_.begin() + static_cast<std::ptrdiff_t>(floats.begin), floats.size(),
                std::numeric_limits<float>::quiet_NaN());
  }
  bool wants_factors(Range) const override { return factors_; }
  void factors_ready(Range matrix, const Factors&) override {
    ready(matrix);
    as_factors.push_back(matrix);
  }
  std::vector<Range> as_factors;

 private:
  std::vector<float>& parameters_;
  bool factors_;
};

inline void expect_no_parameter_is_read_after_its_gradient(Model& model, const Batch& batch) {
  std::vector<float> parameters(model.layout().size), expected(parameters), gradient(parameters);
  model.initialize(1, parameters);
  NoFlow no_flow;
  model.gradient(batch, parameters, expected, no_flow);
  for (const bool factors : {false, true}) {
    std::vector<float> changing = parameters;
    OverwritingFlow flow(changing, factors);
    model.gradient(batch, changing, gradient, flow);
    EXPECT_EQ(flow.announced, model.layout().size);
    for (const Range& matrix : flow.as_factors) {  // nobody has multiplied them
      std::copy_n(expected.begin() + static_cast<std::ptrdiff_t>(matrix.begin), matrix.size(),
                  gradient.begin() + static_cast<std::ptrdiff_t>(matrix.begin));
    }
    EXPECT_TRUE(gradient == expected) << (factors ? "with factors" : "");
  }
}

}  // namespace paceline
