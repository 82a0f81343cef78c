#include "exchange/ps/row_history.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"

namespace paceline {
namespace {

constexpr std::uint32_t kHistoryRows = 12;

// A table whose rows count the steps that touched them.
class RowHistories : public testing::TestWithParam<bool> {
 protected:
  void step(const std::vector<std::uint32_t>& rows) {
    RowHistory::Step step = history_.begin();
    step.rows = rows;
    for (const std::uint32_t row : rows) {
      step.before.push_back(table_[row]);
      table_[row].a += 1;
    }
    history_.end(std::move(step), history_.version() + 1);
  }
  static std::vector<float> counts(const std::vector<TableRow>& rows) {
    std::vector<float> counts;
    for (const TableRow& row : rows) counts.push_back(row.a);
    return counts;
  }
  std::vector<float> whole(std::uint64_t version) const {
    std::vector<TableRow> rows = table_;
    history_.undo(version, 0, rows);
    return counts(rows);
  }

  std::vector<TableRow> table_ = std::vector<TableRow>(kHistoryRows);
  RowHistory history_{0, GetParam()};
};

INSTANTIATE_TEST_SUITE_P(WithAndWithoutTheLast, RowHistories, testing::Bool());

TEST_P(RowHistories, KeepWhatIsPinnedHoweverStepsAreJoined) {
  Random random(3);
  std::map<std::uint64_t, std::vector<float>> pinned;
  for (std::uint64_t version = 1; version <= 300; ++version) {
    std::vector<std::uint32_t> rows;
    for (std::uint32_t row = 0; row < kHistoryRows; ++row) {
      if (random.below(3) == 0) rows.push_back(row);
    }
    const std::vector<float> before = counts(table_);
    step(rows);
    if (GetParam()) {
      ASSERT_EQ(whole(version - 1), before) << version;
    }
    if (version % 19 == 0) {
      history_.pin(version);
      pinned[version] = counts(table_);
    }
    if (version % 67 == 0) {
      history_.release(pinned.begin()->first);
      pinned.erase(pinned.begin());
    }
    for (const auto& [kept, values] : pinned) ASSERT_EQ(whole(kept), values) << kept;
  }
  EXPECT_GE(pinned.size(), 5U);
}

TEST_P(RowHistories, GiveSomeRowsAndPartsOfTheTable) {
  step({1, 4, 7});
  history_.pin(1);
  step({4, 5});
  step({4, 11});
  std::vector<TableRow> some = {table_[1], table_[4], table_[11]};
  history_.undo(1, std::vector<std::uint32_t>{1, 4, 11}, some);
  EXPECT_EQ(counts(some), (std::vector<float>{1, 1, 0}));
  std::vector<TableRow> part(table_.begin() + 4, table_.begin() + 6);
  history_.undo(1, 4, part);
  EXPECT_EQ(counts(part), (std::vector<float>{1, 0}));
}

TEST_P(RowHistories, ForgetWhatNobodyMayAskFor) {
  for (int i = 0; i < 10; ++i) step({2, 3});
  EXPECT_EQ(history_.rows_kept(), GetParam() ? 2U : 0U);
  history_.pin(10);
  for (int i = 0; i < 10; ++i) step({2, 3});
  EXPECT_GE(history_.rows_kept(), 2U);
  EXPECT_LE(history_.rows_kept(), 6U);  // not once per step
  history_.release(10);
  EXPECT_EQ(history_.rows_kept(), GetParam() ? 2U : 0U);
}

}  // namespace
}  // namespace paceline
