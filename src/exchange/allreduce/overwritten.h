// What the front of the parameters and of the optimizer's state was before a step that is not
// yet complete: a run that ends in such a step goes back to the step before.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace paceline {

class Overwritten {
 public:
  // Of vectors of `all` floats, the first `front`; the state has `slots` of them.
  Overwritten(std::uint64_t front, std::uint64_t all, std::uint64_t slots);

  void keep(std::span<const float> values, std::span<const float> state);
  // Puts back what was kept, if anything was since forget().
  void restore(std::span<float> values, std::span<float> state);
  void forget() { kept_ = false; }

 private:
  std::uint64_t front_;
  std::uint64_t all_;
  std::uint64_t slots_;
  std::vector<float> floats_;  // the values, then each slot
  bool kept_ = false;
};

}  // namespace paceline
