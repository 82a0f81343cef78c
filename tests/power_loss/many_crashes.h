// The power fails again and again, at moments and with losses that follow from a seed.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/random.h"
#include "power_loss/crash.h"

namespace paceline {

// Calls check(crash) with `place` as the disk may be after each of so many. A third of them come
// after the last event: what a program has finished must stay.
template <typename Check>
void after_crashes(const DiskLog& log, int crashes, const std::filesystem::path& place,
                   const Check& check) {
  Random random(7);
  for (int i = 0; i < crashes; ++i) {
    const std::size_t last = log.events.size();
    const Crash crash{i % 3 == 0 ? last : random.below(last + 1),
                      i < 3 || i % 8 == 0 ? 0 : static_cast<std::uint64_t>(i)};
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
