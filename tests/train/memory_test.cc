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
