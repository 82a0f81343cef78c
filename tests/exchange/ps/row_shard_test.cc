#include "exchange/ps/row_shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "base/random.h"

namespace paceline {
namespace {

using testing::ElementsAre;

constexpr ClientId kWorker = 1;

// A server that has a whole table of 10 rows; the rate is 1 and steps have four tiles of weight 1.
class RowShards : public testing::Test {
 protected:
  explicit RowShards(Mode mode = Mode::kSync, bool deterministic = false) {
    RowShardOptions options;
    options.mode = mode;
    options.grid = {400, 4, 1};
    options.deterministic = deterministic;
    shard_ =
        std::make_unique<RowShard>(RowDeal(10, 1), 0, options, Schedule({.rate = 1}, 4, 400, 1));
  }

  std::uint64_t ask(const std::vector<std::uint32_t>& rows) {
    wire::Pull pull;
    pull.set_ticket(++tickets_);
    const std::string keys = encode_rows(rows);
    shard_->asked(kWorker, pull, std::as_bytes(std::span(keys)));
    return tickets_;
  }
  std::vector<float> answer(std::uint64_t ticket, std::uint64_t version) {
    const Payload payload = shard_->answer({kWorker, 0, version, false, {}, ticket}).values;
    const auto* floats = reinterpret_cast<const float*>(payload.bytes.data());
    return {floats, floats + payload.bytes.size() / sizeof(float)};
  }
  std::vector<float> read(std::uint64_t version, const std::vector<std::uint32_t>& rows) {
    return answer(ask(rows), version);
  }
  Gradient gradient(const std::vector<std::uint32_t>& rows, const std::vector<float>& values,
                    Range tiles = {0, 4}) {
    wire::Push push;
    push.set_ticket(ask(rows));
    Gradient gradient = shard_->landing(kWorker, push, tiles);
    EXPECT_EQ(gradient.values->as_floats().size(), values.size());
    std::ranges::copy(values, gradient.values->as_floats().begin());
    return gradient;
  }
  void step(std::uint64_t version, const Gradient& sum) {
    shard_->accumulate(0, true, {0, 4}, sum);
    apply(version);
  }
  void apply(std::uint64_t version, double scale = 1) {
    shard_->apply({0, version - 1, 4, scale, version, 4 * (version - 1)}, {});
  }

  std::unique_ptr<RowShard> shard_;
  std::uint64_t tickets_ = 0;
};

TEST_F(RowShards, ApplyTheSumOfAllShares) {
  shard_->accumulate(0, true, {0, 2}, gradient({1, 4}, {4, 8}));
  shard_->accumulate(0, false, {2, 4}, gradient({4, 7}, {4, 4}));
  EXPECT_TRUE(shard_->is_finite(0, 0));
  EXPECT_EQ(shard_->measure(0).sum_of_squares, 0);  // nobody clips
  apply(1);
  EXPECT_THAT(read(1, {0, 1, 4, 7}), ElementsAre(0, -1, -3, -1));
}

TEST_F(RowShards, KeepTheVersionBefore) {
  step(1, gradient({1, 4}, {4, 4}));
  step(2, gradient({4, 5}, {4, 4}));
  EXPECT_THAT(read(1, {1, 4, 5}), ElementsAre(-1, -1, 0));
  EXPECT_THAT(read(2, {1, 4, 5}), ElementsAre(-1, -2, -1));
}

TEST_F(RowShards, KeepPinnedVersions) {
  step(1, gradient({1, 4}, {4, 4}));
  shard_->pin(1);
  for (std::uint64_t version = 2; version <= 9; ++version) {
    step(version, gradient({static_cast<std::uint32_t>(version % 3), 4}, {4, 4}));
  }
  EXPECT_THAT(read(1, {0, 1, 2, 4}), ElementsAre(0, -1, 0, -1));
  EXPECT_THAT(read(8, {4}), ElementsAre(-8));
  EXPECT_THAT(read(9, {4}), ElementsAre(-9));
  wire::Pull pull;
  pull.set_ticket(++tickets_);
  pull.mutable_part()->set_begin(1);
  pull.mutable_part()->set_end(6);
  shard_->asked(kWorker, pull, {});
  EXPECT_THAT(answer(tickets_, 1), ElementsAre(-1, 0, 0, -1, 0));
  // Row 4 was touched eight times since, and is kept less often.
  EXPECT_LT(shard_->rows_kept(), 12U);
  shard_->release(1);
  EXPECT_EQ(shard_->rows_kept(), 2U);  // of the last step
  EXPECT_THAT(read(9, {4}), ElementsAre(-9));
}

// However long a version is kept, and whichever steps are joined meanwhile.
TEST_F(RowShards, KeepSeveralPinnedVersions) {
  Random random(8);
  std::map<std::uint64_t, std::vector<float>> expected;
  std::vector<float> table(10);
  const std::vector<std::uint32_t> all = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  for (std::uint64_t version = 1; version <= 200; ++version) {
    std::vector<std::uint32_t> rows;
    for (std::uint32_t row = 0; row < 10; ++row) {
      if (random.below(4) == 0) rows.push_back(row);
    }
    step(version, gradient(rows, std::vector<float>(rows.size(), 4)));
    for (const std::uint32_t row : rows) table[row] -= 1;
    if (version % 23 == 0) {
      shard_->pin(version);
      expected[version] = table;
    }
    if (version % 71 == 0) {
      shard_->release(expected.begin()->first);
      expected.erase(expected.begin());
    }
    for (const auto& [pinned, values] : expected) ASSERT_EQ(read(pinned, all), values) << version;
    shard_->gone(kWorker);
  }
  EXPECT_GE(expected.size(), 5U);
}

TEST_F(RowShards, CountAStepThatIsSkipped) {
  step(1, gradient({1}, {4}));
  shard_->accumulate(0, true, {0, 4}, gradient({1}, {std::numeric_limits<float>::infinity()}));
  EXPECT_FALSE(shard_->is_finite(0, 1));
  apply(2, 0);
  EXPECT_THAT(read(2, {1}), ElementsAre(-1));
  EXPECT_THAT(read(1, {1}), ElementsAre(-1));
}

TEST_F(RowShards, RefuseWhatMakesNoSense) {
  wire::Push push;
  push.set_ticket(77);
  EXPECT_THROW(shard_->landing(kWorker, push, {0, 4}), FrameError);
  EXPECT_THROW(ask({10}), FrameError);
  const std::uint64_t ticket = ask({1});
  --tickets_;
  EXPECT_THROW(ask({1}), FrameError);  // the same ticket
  push.set_ticket(ticket);
  EXPECT_THROW(shard_->landing(2, push, {0, 4}), FrameError);  // somebody else's
  EXPECT_NO_THROW(shard_->landing(kWorker, push, {0, 4}));
  EXPECT_THROW(shard_->landing(kWorker, push, {0, 4}), FrameError);  // for the second time
  for (int i = 0; i < 64; ++i) ask({1});
  EXPECT_THROW(ask({1}), FrameError);  // without end
  shard_->gone(kWorker);
  EXPECT_NO_THROW(ask({1}));
  wire::Pull part;
  part.set_ticket(1000);
  part.mutable_part()->set_end(11);
  EXPECT_THROW(shard_->asked(kWorker, part, {}), FrameError);
}

TEST_F(RowShards, ForgetTicketsThatNobodyNeeds) {
  const std::uint64_t ticket = ask({1});
  wire::Pull pull;
  pull.set_ticket(++tickets_);
  pull.add_forget(ticket);
  shard_->asked(kWorker, pull, {});
  EXPECT_THAT(answer(ticket, 0), ElementsAre());
  EXPECT_THAT(answer(tickets_, 0), ElementsAre());  // of no rows
}

struct AsyncRowShards : RowShards {
  AsyncRowShards() : RowShards(Mode::kAsync) {}
};

TEST_F(AsyncRowShards, ApplyEachContribution) {
  shard_->apply({0, 5, 4, 1, 1, 0}, gradient({2, 3}, {4, 8}));
  shard_->apply({0, 2, 2, 0.5, 2, 4}, gradient({3}, {4}));
  EXPECT_THAT(read(2, {1, 2, 3}), ElementsAre(0, -1, -3));
}

struct DeterministicRowShards : RowShards {
  DeterministicRowShards() : RowShards(Mode::kSync, true) {}
};

// Tiles with gradients whose sum depends on the order; cut in two ways and arriving in two orders.
TEST_F(DeterministicRowShards, HaveTheSameBitsHoweverAStepIsCut) {
  const std::vector<float> tiles = {1e8F, 1, -1e8F, 0.37F};
  // One share: the root of the tree, (t0 + t1) + (t2 + t3).
  const float root = (tiles[0] + tiles[1]) + (tiles[2] + tiles[3]);
  shard_->accumulate(0, true, {0, 4}, gradient({3, 5}, {root, root}));
  apply(1);
  // Three shares, the last first; row 5 has no gradient in tile 3.
  shard_->accumulate(0, true, {3, 4}, gradient({3}, {tiles[3]}, {3, 4}));
  shard_->accumulate(0, false, {0, 2}, gradient({3, 5}, {tiles[0] + tiles[1], 0}, {0, 2}));
  shard_->accumulate(0, false, {2, 3}, gradient({3, 6}, {tiles[2], 1}, {2, 3}));
  EXPECT_TRUE(shard_->is_finite(0, 1));
  apply(2);
  const auto first = read(1, {3});
  const auto both = read(2, {3, 5, 6});
  EXPECT_EQ(both[0], first[0] - root / 4);
  EXPECT_EQ(both[1], first[0]);
  EXPECT_EQ(both[2], -0.25F);
}

// Two servers' parts of the weights make up the whole.
TEST(RowShardParts, MakeUpTheTable) {
  constexpr std::uint64_t kRows = 257;
  const RowDeal deal(kRows, 2);
  RowShardOptions options;
  options.optimizer.kind = OptimizerKind::kFtrl;
  options.grid = {400, 4, 1};
  std::vector<float> z(kRows);
  std::vector<float> n(kRows);
  Random random(2);
  for (float& value : z) value = static_cast<float>(random.normal());
  for (float& value : n) value = static_cast<float>(random.uniform());
  for (const std::uint32_t vector : {0, 1, 2}) {
    std::vector<std::size_t> taken(2);
    std::vector<std::vector<float>> parts;
    for (const std::uint32_t server : {0, 1}) {
      RowShard shard(deal, server, options, Schedule({.rate = 0.5}, 4, 400, 1));
      shard.load_vector(1, 0, std::span(z).first(100));
      shard.load_vector(1, 100, std::span(z).subspan(100));
      shard.load_vector(2, 0, n);
      wire::Pull pull;
      pull.set_ticket(1);
      pull.mutable_part()->set_begin(3);
      pull.mutable_part()->set_end(kRows);
      pull.mutable_part()->set_vector(vector);
      shard.asked(kWorker, pull, {});
      const Payload payload = shard.answer({kWorker, server, 0, false, {}, 1}).values;
      const auto* floats = reinterpret_cast<const float*>(payload.bytes.data());
      parts.emplace_back(floats, floats + payload.bytes.size() / sizeof(float));
    }
    for (Key key = 3; key < kRows; ++key) {
      const std::uint32_t server = deal.server_of(key);
      const float value = parts[server].at(taken[server]++);
      const float weight = -z[key] / ((1 + std::sqrt(n[key])) / 0.5F);
      EXPECT_NEAR(value, vector == 0 ? weight : vector == 1 ? z[key] : n[key], 1e-6) << key;
    }
    EXPECT_EQ(taken[0], parts[0].size());
    EXPECT_EQ(taken[1], parts[1].size());
  }
}

}  // namespace
}  // namespace paceline
