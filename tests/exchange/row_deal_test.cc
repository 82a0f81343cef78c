#include "exchange/row_deal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "net/frame.h"

namespace paceline {
namespace {

using testing::ElementsAre;

TEST(RowDeal, GivesEveryKeyAPlaceOfItsOwn) {
  for (const std::uint32_t servers : {1, 2, 3, 7, 8}) {
    const RowDeal deal(1025, servers);
    std::vector<std::vector<bool>> taken(servers, std::vector<bool>(deal.rows_each()));
    for (Key key = 0; key < 1025; ++key) {
      const std::uint32_t server = deal.server_of(key);
      const std::uint32_t row = deal.row_of(key);
      ASSERT_LT(server, servers);
      ASSERT_LT(row, deal.rows_each());
      EXPECT_FALSE(taken[server][row]) << key;
      taken[server][row] = true;
      EXPECT_EQ(deal.key_of(server, row), key);
    }
  }
}

TEST(RowDeal, KeepsTheOrderOfKeys) {
  const RowDeal deal(std::uint64_t{1} << 20, 3);
  std::vector<Key> keys;
  for (Key key = 5; key < 1'000'000; key += 77) keys.push_back(key);
  std::vector<RowDeal::Part> parts;
  deal.split(keys, parts);
  std::size_t count = 0;
  for (std::uint32_t server = 0; server < 3; ++server) {
    EXPECT_TRUE(std::ranges::is_sorted(parts[server].rows));
    for (std::size_t i = 0; i < parts[server].rows.size(); ++i) {
      ASSERT_EQ(deal.key_of(server, parts[server].rows[i]), keys[parts[server].places[i]]);
    }
    count += parts[server].rows.size();
  }
  EXPECT_EQ(count, keys.size());
}

// Whatever pattern the keys have: all of them, every second, every eighth, powers of two apart.
TEST(RowDeal, IsEven) {
  for (const std::uint32_t servers : {2, 3, 4, 5, 8}) {
    for (const Key stride : {1, 2, 3, 4, 8, 16, 40, 1024}) {
      const RowDeal deal(std::uint64_t{1} << 30, servers);
      std::vector<std::uint64_t> counts(servers);
      constexpr std::uint64_t kKeys = 40'000;
      for (Key i = 0; i < kKeys; ++i) ++counts[deal.server_of(i * stride)];
      const auto most = static_cast<double>(*std::ranges::max_element(counts));
      EXPECT_LT(most / (static_cast<double>(kKeys) / servers), 1.06) << servers << " " << stride;
    }
  }
}

std::vector<std::uint32_t> sent(const std::vector<std::uint32_t>& rows, std::uint64_t table) {
  const std::string bytes = encode_rows(rows);
  return decode_rows(std::as_bytes(std::span(bytes)), table);
}

TEST(RowNumbersOnTheWire, ComeBack) {
  EXPECT_THAT(sent({}, 1), ElementsAre());
  EXPECT_THAT(sent({0}, 1), ElementsAre(0));
  EXPECT_THAT(sent({0, 1, 2, 1'000'000}, 1'000'001), ElementsAre(0, 1, 2, 1'000'000));
}

TEST(RowNumbersOnTheWire, TakeTwoBytesWhereOneRowInAThousandIsNamed) {
  Random random(1);
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < 30'000'000;
       row += 1 + static_cast<std::uint32_t>(random.below(2000))) {
    rows.push_back(row);
  }
  EXPECT_LT(encode_rows(rows).size(), 2 * rows.size() + 16);
}

TEST(RowNumbersOnTheWire, MustBeOfTheTable) {
  EXPECT_THROW(sent({5}, 5), FrameError);
  EXPECT_THROW(sent({1, 0xFFFFFFFE}, 0xFFFFFFFE), FrameError);
  const std::string junk = "\x0a\x05\xff\xff\xff";
  EXPECT_THROW(decode_rows(std::as_bytes(std::span(junk)), 100), FrameError);
}

}  // namespace
}  // namespace paceline
