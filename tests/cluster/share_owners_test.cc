#include "cluster/share_owners.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Every step has six tiles; workers 1, 2 and 3 have two each.
class ShareOwnersTest : public ::testing::Test {
 protected:
  ShareOwnersTest() : owners_(grid()) { owners_.add({1, 0, {{1, 1}, {2, 1}, {3, 1}}}); }
  static Grid grid() {
    Grid grid;
    grid.examples = 600;
    grid.batch = 60;
    grid.tile = 10;
    return grid;
  }
  ShareOwners owners_;
};

TEST_F(ShareOwnersTest, TheAssignmentSaysWhoOwes) {
  EXPECT_THAT(owners_.owing(4, {{0, 6}}), ElementsAre(1, 2, 3));
  EXPECT_THAT(owners_.owing(4, {{2, 3}, {5, 6}}), ElementsAre(2, 3));
  EXPECT_THAT(owners_.owing(4, {}), IsEmpty());
}

TEST_F(ShareOwnersTest, SharesOfTheDeadGoWholeToOneHeirEach) {
  const auto adopted = owners_.reassign({4, 6}, {2}, {1, 3});
  ASSERT_EQ(adopted.size(), 2U);
  ASSERT_EQ(adopted.at(1).size(), 1U);
  ASSERT_EQ(adopted.at(3).size(), 1U);
  EXPECT_EQ(adopted.at(1)[0].share, (Share{4, {2, 4}}));
  EXPECT_EQ(adopted.at(1)[0].assignment, 1U);
  EXPECT_EQ(adopted.at(3)[0].share, (Share{5, {2, 4}}));
  EXPECT_THAT(owners_.owing(4, {{2, 4}}), ElementsAre(1));
  EXPECT_THAT(owners_.owing(5, {{2, 4}}), ElementsAre(3));
}

TEST_F(ShareOwnersTest, AnHeirThatDiesPassesOnWhatItInherited) {
  owners_.reassign({4, 5}, {2}, {1, 3});
  owners_.add({2, 5, {{1, 1}, {3, 1}}});
  const auto adopted = owners_.reassign({4, 5}, {1}, {3});
  // Its own share, and the one of worker 2, both as assignment 1 cut them.
  ASSERT_EQ(adopted.at(3).size(), 2U);
  EXPECT_EQ(adopted.at(3)[0].share, (Share{4, {2, 4}}));
  EXPECT_EQ(adopted.at(3)[1].share, (Share{4, {0, 2}}));
  EXPECT_EQ(adopted.at(3)[1].assignment, 1U);
  EXPECT_THAT(owners_.owing(4, {{0, 6}}), ElementsAre(3, 3, 3));
}

TEST_F(ShareOwnersTest, CompleteStepsAreForgotten) {
  owners_.reassign({4, 5}, {2}, {1});
  EXPECT_THAT(owners_.reassign({5, 5}, {1}, {3}), IsEmpty());
}

// Workers come and go all the time in a long run.
TEST_F(ShareOwnersTest, AssignmentsThatNoOpenStepNeedsAreForgotten) {
  for (std::uint32_t epoch = 2; epoch < 1000; ++epoch) {
    const std::uint64_t start = 3 * epoch;
    owners_.reassign({start - 1, start}, {}, {1});
    owners_.add({epoch, start, {{1, 1}, {epoch, 1}}});
    // The step before is open, and as the assignment before has cut it.
    const std::uint32_t before = epoch == 2 ? 3 : epoch - 1;
    EXPECT_THAT(owners_.owing(start - 1, {{5, 6}}), ElementsAre(before));
    EXPECT_THAT(owners_.owing(start, {{5, 6}}), ElementsAre(epoch));
    EXPECT_LE(owners_.assignments(), 2U);
  }
}

}  // namespace
}  // namespace paceline
