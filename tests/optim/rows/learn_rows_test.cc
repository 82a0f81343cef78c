#include "optim/rows/learn_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "base/random.h"
#include "data/sparse/row_parser.h"
#include "optim/rows/hot_rows.h"

namespace paceline {
namespace {

constexpr std::uint32_t kKeys = 200;

// Rows with few and many keys, with and without values, one with a key twice.
RowBuffer made_up_rows(std::size_t count) {
  Random random(3);
  RowBuffer rows;
  const RowParser parser({RowFormat::kLibsvm, RowTarget::kClass, 8});
  for (std::size_t i = 0; i < count; ++i) {
    std::string line = random.below(2) == 0 ? "1" : "0";
    for (std::uint64_t k = 0; k < random.below(70); ++k) {
      line +=
          fmt::format(" {}:{}", random.below(kKeys), random.below(2) == 0 ? 1.0 : random.normal());
    }
    EXPECT_EQ(parser.parse(line, rows), nullptr) << line;
  }
  return rows;
}

std::vector<const std::uint32_t*> pointers(const RowBuffer& rows) {
  std::vector<const std::uint32_t*> all;
  for (const std::size_t start : rows.starts) all.push_back(rows.words.data() + start);
  return all;
}

// The formulas of the header, one key at a time.
class RowReference {
 public:
  explicit RowReference(const RowRule& rule) : rule_(rule), rows_(257) {}

  double weight(Key key) const { return weight_of(rule_, rows_[key]); }
  double score(const RowView& row) const {
    double sum = 0;
    for (std::size_t k = 0; k < row.keys.size(); ++k) sum += weight(row.keys[k]) * row.value(k);
    return sum;
  }
  void learn(const RowView& row) {
    ScoreLoss loss(rule_.loss);
    const auto slope = static_cast<double>(loss.add(static_cast<float>(score(row)), row.label));
    const std::vector<TableRow> before = rows_;
    for (std::size_t k = 0; k < row.keys.size(); ++k) {
      const TableRow old = before[row.keys[k]];
      TableRow& now = rows_[row.keys[k]];
      const double w = weight_of(rule_, old);
      double g = slope * row.value(k);
      if (rule_.kind == OptimizerKind::kFtrl) {
        const double sigma = (std::sqrt(old.b + g * g) - std::sqrt(old.b)) / rule_.rate;
        now.a += static_cast<float>(g - sigma * w);
        now.b += static_cast<float>(g * g);
        continue;
      }
      g += rule_.l2 * w;
      double rate = rule_.rate;
      if (rule_.kind == OptimizerKind::kAdagrad) {
        rate /= std::sqrt(old.b + g * g) + rule_.epsilon;
        now.b += static_cast<float>(g * g);
      }
      double moved = w - rate * g;
      moved = std::copysign(std::max(0.0, std::abs(moved) - rate * rule_.l1), moved);
      now.a += static_cast<float>(moved - w);
    }
  }

 private:
  RowRule rule_;
  std::vector<TableRow> rows_;
};

class LearnRows : public testing::TestWithParam<RowRule> {};

TEST_P(LearnRows, FollowsTheFormulas) {
  const RowBuffer rows = made_up_rows(500);
  const auto all = pointers(rows);
  RowTable table(257);
  RowReference reference(GetParam());
  ScoreLoss scored(GetParam().loss);
  for (const std::uint32_t* row : all) {
    scored.add(static_cast<float>(reference.score(row_at(row))), row_at(row).label);
    reference.learn(row_at(row));
  }
  const Loss expected = scored.loss();
  const TableView view{table.rows().data(), nullptr};
  const Loss loss = learn_rows(GetParam(), all, view);
  EXPECT_NEAR(loss.mean(), expected.mean(), 1e-3 * expected.mean());
  EXPECT_EQ(loss.examples, 500U);
  for (Key key = 0; key < 257; ++key) {
    EXPECT_NEAR(weight_of(GetParam(), table.rows()[key]), reference.weight(key), 2e-3) << key;
  }
  std::vector<float> scores(all.size());
  score_rows(GetParam(), all, view, scores);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_NEAR(scores[i], reference.score(row_at(all[i])), 2e-2);
  }
}

RowRule rule(OptimizerKind kind, float l1, float l2,
             SparseLinear::Kind loss = SparseLinear::Kind::kLogistic) {
  return {.kind = kind, .loss = loss, .rate = 0.05F, .l1 = l1, .l2 = l2};
}

INSTANTIATE_TEST_SUITE_P(
    Rules, LearnRows,
    testing::Values(rule(OptimizerKind::kSgd, 0, 0), rule(OptimizerKind::kSgd, 0.01F, 0.02F),
                    rule(OptimizerKind::kAdagrad, 0, 0),
                    rule(OptimizerKind::kAdagrad, 0.01F, 0.02F), rule(OptimizerKind::kFtrl, 0, 0),
                    rule(OptimizerKind::kFtrl, 0.5F, 0.1F),
                    rule(OptimizerKind::kAdagrad, 0, 0, SparseLinear::Kind::kRegression)));

TEST(HotRows, ThreadsBringTheirChangesTogether) {
  RowTable table(10);
  table.rows()[3] = {1, 2};
  const std::vector<Key> keys = {3, 5};
  HotRows hot(keys, table.rows(), true);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&hot] {
      HotRows::Copy mine(hot);
      for (int i = 0; i < 100; ++i) {
        mine.rows()[0].a += 1;
        mine.rows()[1].b += 2;
        mine.merge();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  hot.put_back(table.rows());
  EXPECT_EQ(table.rows()[3].a, 401);
  EXPECT_EQ(table.rows()[3].b, 2);
  EXPECT_EQ(table.rows()[5].b, 800);
}

}  // namespace
}  // namespace paceline
