// A disk that is full when a run wants to save what it has learned.
//
// The numbers are in memory, and writing is tried again until there is room: as long as someone
// sits at the terminal and does not refuse, otherwise for a while. For any thread.
#pragma once

#include <functional>
#include <string>

#include "base/clock.h"

namespace paceline {

struct Patience {
  Duration limit = std::chrono::minutes(5);  // for room
  Duration pause = std::chrono::seconds(1);  // between two tries
  bool endless = false;                      // someone is there to make room, or to refuse
  std::function<bool()> refused;             // whether nobody wants to wait any longer
  std::function<void(const std::string& sentence)> say;  // once, when the waiting begins
};

// Calls `write` until it no longer throws DiskFull. Throws DiskFull when there is no room in the
// end, and at once whatever else `write` throws.
void write_patiently(const std::function<void()>& write, const Patience& patience);

}  // namespace paceline
