// Tests of code that is compiled for several instruction sets.
#pragma once

#include <hwy/targets.h>

namespace paceline {

// Calls body(name) once for each instruction set of this machine, with it chosen.
template <typename Body>
void for_each_target(const Body& body) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body(hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace paceline
