#include "cluster/lease_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// 95 examples in batches of 10: ten steps an epoch, the last with five examples.
Grid small_grid() {
  Grid grid;
  grid.examples = 95;
  grid.batch = 10;
  return grid;
}

LeaseBook book(std::uint64_t steps = 20, std::uint64_t block = 4) {
  return LeaseBook(small_grid(), {}, steps, block);
}

TEST(LeaseBook, GivesAWorkerNoMoreThanABlock) {
  LeaseBook leases = book();
  EXPECT_THAT(leases.grant(1, 1), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(leases.grant(1, 1), IsEmpty());
}

TEST(LeaseBook, TopsUpWhenHalfOfTheBlockIsDone) {
  LeaseBook leases = book();
  leases.grant(1, 1);
  leases.commit(1, 0);
  EXPECT_THAT(leases.grant(1, 1), IsEmpty());
  leases.commit(1, 1);
  leases.commit(1, 2);
  EXPECT_THAT(leases.grant(1, 1), ElementsAre(4, 5));  // six are left: blocks of three
}

TEST(LeaseBook, BlocksShrinkTowardsTheEndOfTheEpoch) {
  LeaseBook leases = book();
  EXPECT_THAT(leases.grant(1, 2), ElementsAre(0, 1));
  EXPECT_THAT(leases.grant(2, 2), ElementsAre(2, 3));
  leases.grant(3, 2);
  leases.grant(4, 2);
  EXPECT_THAT(leases.grant(5, 2), SizeIs(1));
}

TEST(LeaseBook, GivesNothingBeyondTheEpochBeforeItIsCut) {
  LeaseBook leases = book(20, 100);
  for (std::uint32_t worker = 1; worker <= 20; ++worker) leases.grant(worker, 1);
  EXPECT_THAT(leases.grant(21, 1), IsEmpty());
  EXPECT_FALSE(leases.drained());
  for (std::uint64_t step = 0; step < 10; ++step) leases.commit(1, step);
  EXPECT_TRUE(leases.drained());
  EXPECT_EQ(leases.epoch_end(), 10U);
  leases.next_epoch();
  EXPECT_FALSE(leases.drained());
  EXPECT_EQ(leases.grant(21, 1).front(), 10U);
}

TEST(LeaseBook, TheRunEndsWithItsLastStep) {
  LeaseBook leases = book(13);
  leases.next_epoch();
  EXPECT_EQ(leases.epoch_end(), 13U);
}

TEST(LeaseBook, LeasesOfTheLostGoToOthersUnlessTheyWereCommitted) {
  LeaseBook leases = book(20, 2);
  EXPECT_THAT(leases.grant(1, 1), ElementsAre(0, 1));
  leases.give_back(1);
  leases.commit(1, 0);  // its last word, on the way when it died
  EXPECT_THAT(leases.grant(2, 1), ElementsAre(1, 2));
}

TEST(LeaseBook, CountsExamplesExactly) {
  LeaseBook leases = book();
  leases.commit(1, 9);
  leases.commit(1, 3);
  leases.commit(2, 3);
  EXPECT_EQ(leases.examples_done(), 5U + 10U);
}

TEST(LeaseBook, GoesOnWhereARunHasStopped) {
  RangeSet done;
  done.add_below(11);
  done.add(12);
  LeaseBook leases(small_grid(), done, 20, 4);
  EXPECT_EQ(leases.epoch_end(), 20U);
  EXPECT_THAT(leases.grant(1, 1), ElementsAre(11, 13, 14, 15));
}

}  // namespace
}  // namespace paceline
