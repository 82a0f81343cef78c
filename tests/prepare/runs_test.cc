#include "prepare/runs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/file/file.h"
#include "base/random.h"
#include "base/temp_dir.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

using Known =
    std::map<std::pair<std::uint64_t, std::string>, std::map<std::uint32_t, std::uint64_t>>;
constexpr std::size_t kMemory = std::size_t{64} << 20;

class RunsTest : public testing::Test {
 protected:
  // Few different texts, so that many are equal; some are long.
  void add(RunBuilder& builder, Random& random, int count) {
    for (int i = 0; i < count; ++i) {
      const std::uint64_t number = random.below(300);
      const std::string text = fmt::format("text {} {}", number, std::string(number * 7, 'x'));
      const auto rating = static_cast<Rating>(100 * (1 + random.below(5)));
      builder.add(text, rating);
      ++known_[{hash_of_text(text), text}][rating];
    }
  }

  void expect_all(std::vector<fs::path> paths, std::size_t buffer) {
    std::vector<RunReader> runs;
    for (const fs::path& path : paths) runs.emplace_back(path, buffer);
    auto expected = known_.begin();
    for (std::size_t slice = 0; slice < kSlices; ++slice) {
      RunMerger merger(runs, slice);
      for (RatedText text; merger.next(text); ++expected) {
        ASSERT_NE(expected, known_.end());
        ASSERT_EQ(slice_of(text.hash), slice);
        ASSERT_EQ(text.hash, expected->first.first);
        ASSERT_EQ(text.text, expected->first.second);
        std::map<std::uint32_t, std::uint64_t> ratings;
        for (const RatingCount& rating : text.ratings) ratings[rating.rating] = rating.count;
        ASSERT_EQ(ratings, expected->second);
        ASSERT_TRUE(std::ranges::is_sorted(text.ratings, {}, &RatingCount::rating));
      }
    }
    EXPECT_EQ(expected, known_.end());
  }

  fs::path path(int number) const { return dir_.path() / fmt::format("{}.run", number); }

  TempDir dir_;
  Known known_;
};

TEST_F(RunsTest, MergedHaveEachTextOnceWithAllItsRatings) {
  Random random(3);
  RunBuilder builder(kMemory);
  std::vector<fs::path> paths;
  for (int i = 0; i < 7; ++i) {
    add(builder, random, 50 * i);
    builder.write(path(i));
    EXPECT_TRUE(builder.empty());
    paths.push_back(path(i));
  }
  for (const std::size_t buffer : {64U, 1000U, 1U << 20}) expect_all(paths, buffer);
  merge_runs({paths[1], paths[3], paths[6]}, {}, path(10), 4096);
  merge_runs({paths[0], paths[2], path(10)}, {}, path(11), 4096);
  expect_all({path(11), paths[4], paths[5]}, 4096);
}

// What one process sends to another.
TEST_F(RunsTest, PiecesOfThemAreRuns) {
  Random random(5);
  RunBuilder builder(kMemory);
  add(builder, random, 400);
  builder.write(path(0));
  const std::string bytes = read_text(path(0));
  std::vector<fs::path> pieces;
  for (const SliceRange slices : {SliceRange{0, 100}, {100, 100}, {100, 101}, {101, kSlices}}) {
    const FilePiece piece = open_run(path(0)).piece(slices);
    pieces.push_back(path(1 + static_cast<int>(pieces.size())));
    write_atomically(pieces.back(),
                     bytes.substr(piece.begin, piece.end - piece.begin) + piece.tail);
  }
  expect_all(pieces, 4096);
}

TEST_F(RunsTest, TextsMayCountSeveralTimes) {
  RunBuilder builder(kMemory);
  builder.add("a", 300, 3);
  builder.add("a", 500, 1);
  builder.add("a", 300, 2);
  known_[{hash_of_text("a"), "a"}] = {{300, 5}, {500, 1}};
  builder.write(path(0));
  expect_all({path(0)}, 4096);
}

TEST_F(RunsTest, AreTheSameWhateverOrderTextsComeIn) {
  RunBuilder builder(kMemory);
  std::vector<std::string> texts;
  for (int i = 0; i < 500; ++i) texts.push_back(fmt::format("t{}", i % 170));
  for (const std::string& text : texts) builder.add(text, 300);
  builder.write(path(1));
  std::ranges::reverse(texts);
  for (const std::string& text : texts) builder.add(text, 300);
  builder.write(path(2));
  EXPECT_EQ(read_text(path(1)), read_text(path(2)));
}

TEST_F(RunsTest, ThatAreDamagedAreRefused) {
  Random random(4);
  RunBuilder builder(kMemory);
  add(builder, random, 500);
  builder.write(path(0));
  const std::string good = read_text(path(0));
  const auto read_all = [&] {
    std::vector<RunReader> runs;
    runs.emplace_back(path(0), 4096);
    for (std::size_t slice = 0; slice < kSlices; ++slice) {
      RunMerger merger(runs, slice);
      for (RatedText text; merger.next(text);) {
      }
    }
  };
  EXPECT_NO_THROW(read_all());
  for (const std::size_t at : {std::size_t{12}, good.size() / 3, good.size() - 40}) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x21);
    write_atomically(path(0), bad);
    EXPECT_THROW(read_all(), DataError) << at;
  }
  write_atomically(path(0), good.substr(0, good.size() / 2));
  EXPECT_THROW(read_all(), DataError);
  write_atomically(path(0), "short");
  EXPECT_THROW(read_all(), DataError);
}

// First long texts, then as many short ones as there is room for.
TEST_F(RunsTest, ABuilderHoldsNoMoreThanItMay) {
  RunBuilder builder(kMemory);
  while (!builder.full()) builder.add(std::string(100'000, 'x'), 100);
  builder.write(dir_.path() / "long");
  const std::size_t held = builder.held();
  EXPECT_GT(held, kMemory / 2);
  builder.add("x", 100);
  EXPECT_GE(builder.held(), held);
  RunBuilder other(kMemory);
  int texts = 0;
  for (; !other.full(); ++texts) other.add("x", 100);
  EXPECT_GT(texts, 100'000);
  EXPECT_LE(other.held(), kMemory);
}

}  // namespace
}  // namespace paceline
