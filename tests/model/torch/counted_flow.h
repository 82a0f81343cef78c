// Counts the floats of a gradient that are announced: as many as there are, when each is once.
#pragma once

#include "model/model.h"

namespace paceline {

class CountedFlow final : public Flow {
 public:
  void await(Range) override {}
  void ready(Range floats) override { announced += floats.size(); }
  std::uint64_t announced = 0;
};

}  // namespace paceline
