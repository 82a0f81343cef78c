#include "prepare/groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/file/file.h"
#include "base/temp_dir.h"

namespace paceline {
namespace {

// Small and large numbers, also none.
std::vector<std::uint32_t> words_of(std::uint32_t row) {
  std::vector<std::uint32_t> words;
  for (std::uint32_t i = 0; i < row % 7; ++i) words.push_back((row * 2654435761U) >> (5 * i));
  return words;
}

TEST(Groups, AreReadFromAnyRowOn) {
  TempDir dir;
  constexpr std::uint64_t kRows = 3000;
  GroupWriter writer(dir.path() / "g");
  for (std::uint32_t i = 0; i < kRows; ++i) {
    writer.add({static_cast<std::uint8_t>(i % 2), words_of(i)});
  }
  writer.commit();
  GroupReader reader(dir.path() / "g");
  ASSERT_EQ(reader.rows(), kRows);
  GroupedReview review;
  for (const std::uint32_t first : {0U, 1U, 1023U, 1024U, 1025U, 2999U, 3000U}) {
    reader.seek(first);
    for (std::uint32_t i = first; i < kRows; ++i) {
      ASSERT_TRUE(reader.next(review));
      ASSERT_TRUE(std::ranges::equal(review.words, words_of(i)));
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
  GroupWriter writer(dir.path() / "cut");
  writer.add({1, words_of(6)});
  writer.commit();
  const std::string bytes = read_text(dir.path() / "cut");
  write_atomically(dir.path() / "cut", bytes.substr(1));
  EXPECT_THROW(GroupReader(dir.path() / "cut"), DataError);
  // Another number, and more of them than there are.
  for (const std::size_t wrong : {5, 3}) {
    write_atomically(dir.path() / "cut", std::string(bytes).replace(wrong, 1, "\x7F"));
    EXPECT_THROW(
        {
          GroupReader damaged(dir.path() / "cut");
          while (damaged.next(review)) continue;
        },
        DataError);
  }
  write_atomically(dir.path() / "d", "something else altogether, and long enough");
  EXPECT_THROW(GroupReader(dir.path() / "d"), DataError);
  EXPECT_THROW(GroupReader(dir.path() / "none"), DataError);
}

// A number between the last row and the marks, where nothing is.
TEST(Groups, WithMoreThanTheirRowsAreDamaged) {
  TempDir dir;
  GroupWriter writer(dir / "g");
  writer.add({1, words_of(6)});
  writer.commit();
  std::string bytes = read_text(dir / "g");
  std::uint64_t end = 0;
  std::memcpy(&end, &bytes[bytes.size() - 16], sizeof end);
  bytes.insert(end, 4, '\0');
  end += 4;
  std::memcpy(&bytes[bytes.size() - 16], &end, sizeof end);
  write_atomically(dir / "g", bytes);
  GroupReader reader(dir / "g");
  GroupedReview review;
  EXPECT_THROW(reader.next(review), DataError);
}

}  // namespace
}  // namespace paceline
