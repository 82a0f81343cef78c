// The power fails again and again, at moments and with losses that follow from a seed.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/random.h"
#include "base/seeds.h"
#include "power_loss/crash.h"

namespace paceline {

// Calls check(crash) with `place` as the disk may be after each of so many, or after this build's
// part of them (base/seeds.h). A third of them come after the last event: what a program has
// finished must stay.
template <typename Check>
void after_crashes(const DiskLog& log, std::uint64_t crashes, const std::filesystem::path& place,
                   const Check& check) {
  const Seeds some = seeds(crashes);
  for (std::uint64_t seed = some.first; seed <= some.last; ++seed) {
    const std::size_t last = log.events.size();
    // Each by itself: the same crash whatever part it is in.
    const Crash crash{seed % 3 == 0 ? last : Random(seed).below(last + 1),
                      seed % 8 == 0 ? 0 : seed};
    std::filesystem::remove_all(place);
    restore(log, crash, place);
    SCOPED_TRACE("after " + std::to_string(crash.events) + " of " + std::to_string(last) +
                 " events, seed " + std::to_string(crash.seed));
    check(crash);
    if (testing::Test::HasFailure()) return;
  }
}

inline bool is_at_end(const DiskLog& log, const Crash& crash) {
  return crash.events == log.events.size();
}

}  // namespace paceline
