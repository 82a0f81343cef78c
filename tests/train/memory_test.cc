#include "train/memory.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "train/synthetic_config.h"

namespace paceline {
namespace {

std::uint64_t each(const std::vector<RoleMemory>& roles, const std::string& name) {
  for (const RoleMemory& role : roles) {
    if (role.role == name) return role.each();
  }
  return 0;
}

TEST(Memory, EveryRoleIsCounted) {
  RunConfig config = synthetic();
  config.workers = 3;
  config.servers = 2;
  const auto roles = estimate_memory(config, make_workload(config));
  ASSERT_EQ(roles.size(), 4U);
  std::uint64_t sum = 0;
  for (const RoleMemory& role : roles) sum += role.each() * role.count;
  EXPECT_EQ(total(roles), sum);
  EXPECT_GE(each(roles, "worker"), 1000U * 100U);
}

TEST(Memory, AnOptimizerWithStateNeedsMoreOnTheServers) {
  RunConfig config = synthetic();
  const auto plain = estimate_memory(config, make_workload(config));
  config.optimizer.kind = OptimizerKind::kAdam;
  const auto adam = estimate_memory(config, make_workload(config));
  EXPECT_GT(each(adam, "server"), each(plain, "server"));
  EXPECT_EQ(each(adam, "worker"), each(plain, "worker"));
}

// Adam keeps two vectors beside the parameters; versions that wait for their tests have theirs.
TEST(Memory, TheStateBeforeIsCountedOnlyWhereARunMayGoBackToIt) {
  const auto states = [](std::uint64_t servers, Mode mode) {
    RunConfig config = synthetic();
    config.optimizer.kind = OptimizerKind::kAdam;
    config.servers = servers;
    config.mode = mode;
    const Workload workload = make_workload(config);
    const std::uint64_t vector = workload.chunks.floats() * sizeof(float);
    for (const RoleMemory& role : estimate_memory(config, workload)) {
      if (role.role == "server") return role.state / (2 * (vector / servers));
    }
    return std::uint64_t{0};
  };
  EXPECT_EQ(states(1, Mode::kSync), 1 + kMostPins);
  EXPECT_EQ(states(2, Mode::kSync), 2 + kMostPins);
  EXPECT_EQ(states(2, Mode::kAsync), 1 + kMostPins);
}

TEST(Memory, ARunThatDoesNotFitIsRefusedWithTheNumbers) {
  RunConfig config = synthetic();
  const auto roles = estimate_memory(config, make_workload(config));
  EXPECT_NO_THROW(check_memory(roles, total(roles)));
  try {
    check_memory(roles, total(roles) - 1);
    FAIL();
  } catch (const ResourceError& error) {
    const std::string text = error.what();
    for (const char* part : {"worker", "server", "parameters", "data", "--memory-limit"}) {
      EXPECT_NE(text.find(part), std::string::npos) << text;
    }
  }
}

}  // namespace
}  // namespace paceline
