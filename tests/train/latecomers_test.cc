#include "train/latecomers.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "train/synthetic_config.h"

namespace paceline {
namespace {

class LatecomersTest : public ::testing::Test {
 protected:
  LatecomersTest() {
    config_.exchange = ExchangeKind::kPs;
    config_.servers = 2;
    config_.workers = 3;
  }
  std::string missing_when_there_are(
      const std::vector<std::pair<Role, std::string>>& members) const {
    std::map<std::uint32_t, ClusterMember> registered;
    for (const auto& [role, name] : members) {
      const auto incarnation = static_cast<std::uint32_t>(registered.size() + 1);
      std::uint32_t rank = 0;
      for (const auto& [other, member] : registered) rank += member.role == role ? 1 : 0;
      registered[incarnation] = {role, incarnation, rank, name, "", true, false};
    }
    return missing_roles(config_, registered);
  }

  RunConfig config_ = synthetic();
};

TEST_F(LatecomersTest, AreNamed) {
  EXPECT_EQ(missing_when_there_are({{Role::kServer, "server1"},
                                    {Role::kWorker, "worker2"},
                                    {Role::kWorker, "worker0"},
                                    {Role::kEvaluator, "evaluator0"}}),
            "server0, worker1");
  EXPECT_EQ(missing_when_there_are({{Role::kServer, "server0"},
                                    {Role::kServer, "server1"},
                                    {Role::kWorker, "worker0"},
                                    {Role::kWorker, "worker1"},
                                    {Role::kWorker, "worker2"}}),
            "evaluator0");
}

TEST_F(LatecomersTest, AreCountedWhereOthersHaveNamesOfTheirOwn) {
  config_.servers = 1;
  EXPECT_EQ(
      missing_when_there_are(
          {{Role::kServer, "big"}, {Role::kWorker, "left"}, {Role::kEvaluator, "evaluator0"}}),
      "2 workers");
}

TEST_F(LatecomersTest, AreMissedThoughAnotherRoleHasMoreThanItNeeds) {
  config_.servers = 1;
  config_.workers = 2;
  EXPECT_EQ(missing_when_there_are({{Role::kServer, "server0"},
                                    {Role::kWorker, "worker0"},
                                    {Role::kWorker, "worker1"},
                                    {Role::kWorker, "worker2"}}),
            "evaluator0");
}

TEST_F(LatecomersTest, AreCountedWhenThereAreMany) {
  config_.workers = 100;
  EXPECT_EQ(missing_when_there_are({{Role::kWorker, "worker0"}}),
            "server0, server1, 99 workers, evaluator0");
}

TEST_F(LatecomersTest, OfARingMayBeItsKeeper) {
  config_.exchange = ExchangeKind::kAllReduce;
  EXPECT_EQ(missing_when_there_are({{Role::kWorker, "worker2"},
                                    {Role::kWorker, "worker0"},
                                    {Role::kWorker, "worker1"},
                                    {Role::kEvaluator, "evaluator0"}}),
            "the keeper in worker2");
  EXPECT_EQ(missing_when_there_are({{Role::kEvaluator, "evaluator0"}}),
            "worker0, worker1, worker2");
}

}  // namespace
}  // namespace paceline
