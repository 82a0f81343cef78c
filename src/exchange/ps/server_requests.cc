// What ServerCore does when the chief asks: fences, pins, reports, the end.
#include <algorithm>

#include "exchange/ps/server_core.h"

namespace paceline {

// From here on nothing from the dead is accepted; the answer says where they had got to.
const ServerCore::Actions& ServerCore::fence(const wire::Fence& fence) {
  actions_.clear();
  for (const std::uint32_t incarnation : fence.dead()) {
    dead_.insert(incarnation);
    leave(incarnation);
  }
  const bool touched = std::any_of(chunks_.begin(), chunks_.end(), [&](const auto& entry) {
    return entry.second.coverage.touched() || entry.second.version > version_;
  });
  wire::Fenced fenced;
  fenced.set_number(fence.number());
  fenced.set_open(version_);
  fenced.set_untouched(version_ + (touched ? 1 : 0));
  actions_.push_back(SendToChief{fenced});
  return actions_;
}

const ServerCore::Actions& ServerCore::pin(std::uint64_t version) {
  actions_.clear();
  wanted_pins_.insert(version);
  pin_if_reached(version);
  return actions_;
}

// Async: the chief names a version only when it has seen that many commits and leases
// nothing more, so the chunks stand still there.
void ServerCore::pin_if_reached(std::uint64_t version) {
  const bool reached = std::all_of(chunks_.begin(), chunks_.end(), [&](const auto& entry) {
    return entry.second.version == version;
  });
  if (!reached) return;
  wanted_pins_.erase(version);
  pins_.insert(version);
  actions_.push_back(PinVersion{version});
  tell_complete(true);
}

const ServerCore::Actions& ServerCore::unpin(std::uint64_t version) {
  actions_.clear();
  if (pins_.erase(version) > 0) {
    actions_.push_back(ReleaseVersion{version});
    if (options_.mode == Mode::kSync) settle();
  }
  return actions_;
}

const ServerCore::Actions& ServerCore::report() {
  actions_.clear();
  tell_complete(false);
  return actions_;
}

const ServerCore::Actions& ServerCore::stop() {
  actions_.clear();
  stopped_ = true;
  wire::Stopped stopped;
  stopped.set_version(version_);
  const auto steps = applied();
  stopped.set_even(steps.has_value());
  if (steps && options_.mode != Mode::kSync) {
    for (const Range& range : steps->ranges()) {
      wire::Tiles& tiles = *stopped.add_applied();
      tiles.set_begin(range.begin);
      tiles.set_end(range.end);
    }
  }
  actions_.push_back(SendToChief{stopped});
  return actions_;
}

void ServerCore::tell_complete(bool pinned) {
  tally_.set_version(version_);
  tally_.set_pinned(pinned);
  for (const Range& gap : missing()) {
    wire::Tiles& tiles = *tally_.add_missing();
    tiles.set_begin(gap.begin);
    tiles.set_end(gap.end);
  }
  actions_.push_back(SendToChief{tally_});
  tally_.Clear();
}

}  // namespace paceline
