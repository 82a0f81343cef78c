#include "data/sparse/row_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/data_error.h"
#include "base/error.h"
#include "base/temp_dir.h"

namespace paceline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A file with valid checksums whose rows have these keys, as if they had so many bits.
class RowCacheOfKeys : public testing::Test {
 protected:
  RowCache made_of(const std::vector<std::vector<Key>>& rows, std::uint32_t bits) const {
    RowBuffer buffer;
    for (const auto& keys : rows) {
      buffer.starts.push_back(buffer.words.size());
      buffer.words.insert(buffer.words.end(), {0, static_cast<std::uint32_t>(keys.size()), 0});
      buffer.words.insert(buffer.words.end(), keys.begin(), keys.end());
    }
    RowCacheWriter writer(folder_ / "rows");
    writer.add(buffer);
    RowCacheInfo info;
    info.bits = bits;
    writer.commit(info);
    return RowCache(folder_ / "rows");
  }

  TempDir folder_;
};

TEST_F(RowCacheOfKeys, HasThoseOfItsBitsAndTheConstant) {
  const RowCache cache = made_of({{0, 15, 16}}, 4);
  EXPECT_THAT(row_at(cache.row(0)).keys, ElementsAre(0, 15, 16));
}

TEST_F(RowCacheOfKeys, RefusesAKeyBehindTheConstant) {
  const RowCache cache = made_of({{1}, {0, 17, 16}}, 4);
  EXPECT_THAT(data_error_of([&] { cache.row(0); }), HasSubstr("keys that there are not"));
  EXPECT_THROW(cache.verify_all(), DataError);
}

TEST_F(RowCacheOfKeys, RefusesAPlaceBehindTheHotKeys) {
  std::vector<std::vector<Key>> rows(20, {3});  // so that 3 is hot, and the only one
  rows.push_back({kHotBit, 4});
  EXPECT_THAT(made_of(rows, 4).hot(), ElementsAre(3));
  EXPECT_NO_THROW(made_of(rows, 4).verify_all());
  rows.push_back({kHotBit | 1, 4});
  EXPECT_THROW(made_of(rows, 4).row(0), DataError);
  EXPECT_THROW(made_of({{kHotBit}}, 4).row(0), DataError);
}

TEST_F(RowCacheOfKeys, RefusesHotKeysAndBitsThatThereAreNot) {
  EXPECT_THROW(made_of(std::vector<std::vector<Key>>(20, {17}), 4), DataError);
  EXPECT_THROW(made_of({{0}}, 0), DataError);
  EXPECT_THROW(made_of({{0}}, kMostBits + 1), DataError);
  EXPECT_NO_THROW(made_of({{Key{1} << kMostBits}}, kMostBits).verify_all());
}

}  // namespace
}  // namespace paceline
