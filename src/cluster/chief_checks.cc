// What ChiefCore believes: a member whose words make no sense is sent away, before it can lead all
// others astray.
#include "cluster/chief_core.h"
#include "net/frame.h"

namespace paceline {

void ChiefCore::expect(std::uint32_t incarnation, Role role) const {
  const ClusterMember* found = member(incarnation);
  if (found == nullptr || found->role != role) {
    throw FrameError("these are not the words of a member of its role");
  }
}

void ChiefCore::expect_server(std::uint32_t incarnation) const {
  expect(incarnation, Role::kServer);
  if (!versions_.contains(incarnation)) {
    throw FrameError("a server speaks of versions, and was not set up");
  }
}

void ChiefCore::expect_reached(std::uint64_t version) const {
  if (version <= options_.last_version) return;
  throw FrameError(fmt::format("version {} is beyond the run's end", version));
}

void ChiefCore::expect_steps(const wire::Tiles& steps) const {
  expect_reached(steps.end());
  if (steps.begin() > steps.end()) {
    throw FrameError(
        fmt::format("steps {} to {} end before they begin", steps.begin(), steps.end()));
  }
}

}  // namespace paceline
