#include "exchange/assignment.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace paceline {
namespace {

Assignment weighted(std::uint32_t epoch, std::uint64_t start,
                    const std::vector<std::uint32_t>& weights) {
  Assignment assignment{epoch, start, {}};
  std::uint32_t worker = 10;
  for (const std::uint32_t weight : weights) assignment.entries.push_back({worker++, weight});
  return assignment;
}

// Shares follow one another in the order of the entries, from the first tile to the last.
void expect_dealt_once(const Assignment& assignment, std::uint64_t tiles) {
  std::uint64_t at = 0;
  for (const AssignmentEntry& entry : assignment.entries) {
    const Range share = assignment.tiles_for(entry.worker, tiles);
    ASSERT_EQ(share.begin, at);
    ASSERT_LE(share.begin, share.end);
    at = share.end;
  }
  ASSERT_EQ(at, tiles);
}

TEST(Assignment, DealsEveryTileOnceToEqualWorkers) {
  for (std::size_t workers = 1; workers <= 40; ++workers) {
    const Assignment assignment = weighted(1, 0, std::vector<std::uint32_t>(workers, 1));
    for (std::uint64_t tiles = 0; tiles <= 70; ++tiles) {
      expect_dealt_once(assignment, tiles);
      for (const AssignmentEntry& entry : assignment.entries) {
        const std::uint64_t share = assignment.tiles_for(entry.worker, tiles).size();
        ASSERT_GE(share, tiles / workers);
        ASSERT_LE(share, (tiles + workers - 1) / workers);
      }
    }
  }
}

TEST(Assignment, DealsEveryTileOnceForAnyWeights) {
  Random random(3);
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::uint32_t> weights(1 + random.below(20));
    for (std::uint32_t& weight : weights) {
      // Of every order of magnitude.
      const std::uint32_t most = AssignmentEntry::kMostWeight >> random.below(21);
      weight = random.below(5) == 0 ? 0 : 1 + static_cast<std::uint32_t>(random.below(most));
    }
    weights[random.below(weights.size())] = 1;
    expect_dealt_once(weighted(1, 0, weights), random.below(1000));
  }
}

TEST(Assignment, SizesSharesByWeight) {
  const Assignment assignment = weighted(1, 0, {1, 3, 0, 4});
  EXPECT_EQ(assignment.tiles_for(10, 64), (Range{0, 8}));
  EXPECT_EQ(assignment.tiles_for(11, 64), (Range{8, 32}));
  EXPECT_TRUE(assignment.tiles_for(12, 64).empty());
  EXPECT_EQ(assignment.tiles_for(13, 64), (Range{32, 64}));
}

TEST(Assignment, HasNothingForAStranger) {
  EXPECT_TRUE(weighted(1, 0, {1, 1}).tiles_for(99, 64).empty());
}

TEST(AssignmentBook, HoldsEachAssignmentUntilTheNextStarts) {
  AssignmentBook book;
  EXPECT_EQ(book.in_force(0), nullptr);
  const Assignment first = weighted(1, 5, {1, 1});
  const Assignment second = weighted(2, 20, {1});
  book.add(first);
  book.add(second);
  EXPECT_EQ(book.in_force(4), nullptr);
  EXPECT_EQ(*book.in_force(5), first);
  EXPECT_EQ(*book.in_force(19), first);
  EXPECT_EQ(*book.in_force(20), second);
  EXPECT_EQ(*book.in_force(1'000'000), second);
}

TEST(AssignmentBook, DropsAnAssignmentThatALaterOneForestalls) {
  AssignmentBook book;
  const Assignment first = weighted(1, 0, {1, 1, 1});
  const Assignment third = weighted(3, 15, {1});
  book.add(first);
  book.add(weighted(2, 20, {1, 1}));
  book.add(third);
  EXPECT_EQ(*book.in_force(14), first);
  EXPECT_EQ(*book.in_force(20), third);
  const Assignment fourth = weighted(4, 15, {1, 2});
  book.add(fourth);
  EXPECT_EQ(*book.in_force(15), fourth);
}

TEST(AssignmentBook, ForgetsOnlyWhatHoldsForNoLaterStep) {
  AssignmentBook book;
  const Assignment first = weighted(1, 0, {1});
  const Assignment second = weighted(2, 10, {1, 1});
  book.add(first);
  book.add(second);
  book.forget_before(9);
  EXPECT_EQ(*book.in_force(9), first);
  book.forget_before(10);
  EXPECT_EQ(book.in_force(9), nullptr);
  EXPECT_EQ(*book.in_force(10), second);
  book.forget_before(1000);
  EXPECT_EQ(*book.in_force(1000), second);
}

// What the header says, word for word, against many assignments that start before and after
// each other.
TEST(AssignmentBook, PutsTheHighestEpochInForceAmongThoseThatHaveStarted) {
  Random random(8);
  for (int i = 0; i < 200; ++i) {
    AssignmentBook book;
    std::vector<Assignment> all;
    for (std::uint32_t epoch = 1; epoch <= 6; ++epoch) {
      all.push_back(weighted(epoch, random.below(30), {1}));
      book.add(all.back());
    }
    for (std::uint64_t step = 0; step < 32; ++step) {
      const auto newest = std::find_if(all.rbegin(), all.rend(), [&](const Assignment& assignment) {
        return assignment.start <= step;
      });
      const Assignment* found = book.in_force(step);
      ASSERT_EQ(found == nullptr, newest == all.rend());
      if (found != nullptr) {
        ASSERT_EQ(*found, *newest);
      }
    }
  }
}

}  // namespace
}  // namespace paceline
