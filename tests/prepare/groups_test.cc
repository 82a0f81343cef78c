#include "prepare/groups.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "base/temp_dir.h"

namespace paceline {
namespace {

TEST(Groups, AreReadFromAnyRowOn) {
  TempDir dir;
  constexpr std::uint64_t kRows = 3000;
  GroupWriter writer(dir.path() / "g");
  for (std::uint64_t i = 0; i < kRows; ++i) {
    writer.add({static_cast<std::uint8_t>(i % 2), fmt::format("words of {}", i)});
  }
  writer.commit();
  GroupReader reader(dir.path() / "g");
  ASSERT_EQ(reader.rows(), kRows);
  GroupedReview review;
  for (const std::uint64_t first : {0U, 1U, 1023U, 1024U, 1025U, 2999U, 3000U}) {
    reader.seek(first);
    for (std::uint64_t i = first; i < kRows; ++i) {
      ASSERT_TRUE(reader.next(review));
      ASSERT_EQ(review.words, fmt::format("words of {}", i));
      ASSERT_EQ(review.label, i % 2);
    }
    EXPECT_FALSE(reader.next(review));
  }
}

TEST(Groups, MayBeEmptyAndAreNotReadWhenDamaged) {
  TempDir dir;
  GroupWriter(dir.path() / "e").commit();
  GroupReader reader(dir.path() / "e");
  GroupedReview review;
  EXPECT_FALSE(reader.next(review));
  write_atomically(dir.path() / "d", "something else altogether, and long enough");
  EXPECT_THROW(GroupReader(dir.path() / "d"), DataError);
  EXPECT_THROW(GroupReader(dir.path() / "none"), DataError);
}

}  // namespace
}  // namespace paceline
