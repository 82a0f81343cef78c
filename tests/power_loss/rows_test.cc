// Caches of sparse rows, which are not synced: they can be made again.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file/file.h"
#include "base/paths.h"
#include "base/random.h"
#include "base/temp_dir.h"
#include "checkpoint/checkpoint.h"
#include "data/sparse/row_cache.h"
#include "data/sparse/row_caches.h"
#include "power_loss/many_crashes.h"
#include "power_loss/recorder.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using Words = std::vector<std::string>;

class PowerLossOfRows : public testing::Test {
 protected:
  PowerLossOfRows() {
    std::string text;
    Random random(3);
    for (int i = 0; i < 1500; ++i) {
      text += fmt::format("{} {}:1 {}:0.5\n", i % 2, 1 + random.below(40), 50 + random.below(900));
    }
    write_atomically(dir_ / "rows.svm", text);
    fs::create_directory(cache());
    fs::create_directory(dir_ / "runs");
  }
  fs::path cache() const { return dir_ / "cache"; }

  Words train(const std::string& run) const {
    // clang-format off
    return {program_path(), "train", "clicks", "--quiet", "--run-dir", dir_ / run,
            "--data-file", dir_ / "rows.svm", "--cache-dir", cache(), "--bits", "11",
            "--batch", "100", "--epochs", "1", "--mode", "sync", "--deterministic"};
    // clang-format on
  }

  // All words of a cache; nothing when it says that it is damaged.
  static std::optional<std::string> content_of(const fs::path& path) {
    try {
      const RowCache cache(path);
      std::string words;
      for (std::uint64_t i = 0; i < cache.info().rows; ++i) {
        const RowView row = row_at(cache.row(i));
        const std::size_t count = row_words(row.keys.size(), row.values.size());
        words.append(reinterpret_cast<const char*>(cache.row(i)), count * sizeof(std::uint32_t));
      }
      return words;
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("cannot be used"), HasSubstr("Remove it")));
      return std::nullopt;
    }
  }

  std::vector<float> parameters(const std::string& run) const {
    const CheckpointReader reader(list_checkpoints(dir_ / run).back());
    std::vector<float> all(reader.info().layout.size);
    reader.read(0, {0, all.size()}, all);
    return all;
  }

  TempDir dir_;
};

TEST_F(PowerLossOfRows, NoCacheIsReadThatIsNotWhole) {
  const DiskLog log = record(cache(), train("runs/first"));
  ASSERT_EQ(log.exit_code, 0) << log.output;
  std::map<std::string, std::string> whole;
  for (const FoundRowCache& found : find_row_caches(cache())) {
    whole[found.path.filename()] = content_of(found.path).value();
  }
  ASSERT_EQ(whole.size(), 2U);
  std::uint64_t damaged = 0;
  std::uint64_t read = 0;
  after_crashes(log, 300, cache(), [&](const Crash&) {
    for (const auto& [name, words] : whole) {
      if (!fs::exists(cache() / name)) continue;
      const auto found = content_of(cache() / name);
      EXPECT_TRUE(!found || *found == words);
      ++(found ? read : damaged);
    }
  });
  EXPECT_GT(damaged, seeds(300).share_of(20));  // otherwise nothing was put to the test
  EXPECT_GT(read, seeds(300).share_of(20));
}

// The next run makes it again.
TEST_F(PowerLossOfRows, TheNextRunIsAsIfNothingHadHappened) {
  const DiskLog log = record(cache(), train("runs/first"));
  ASSERT_EQ(log.exit_code, 0) << log.output;
  const std::vector<float> whole = parameters("runs/first");
  int number = 0;
  after_crashes(log, 60, cache(), [&](const Crash&) {
    const std::string run = fmt::format("runs/{}", ++number);
    fs::create_directory(dir_ / "elsewhere");
    for (const auto& entry : fs::directory_iterator(cache())) {  // the machine has been restarted
      fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - std::chrono::years(1));
    }
    const DiskLog next = record(dir_ / "elsewhere", train(run));
    EXPECT_EQ(next.exit_code, 0) << next.output;
    EXPECT_EQ(parameters(run), whole);
    fs::remove_all(dir_ / "elsewhere");
  });
}

}  // namespace
}  // namespace paceline
