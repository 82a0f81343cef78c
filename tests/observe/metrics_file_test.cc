#include "observe/metrics_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "base/error.h"
#include "base/file/file.h"
#include "base/temp_dir.h"

namespace paceline {
namespace {

TEST(MetricsFile, AppendsOneObjectPerLine) {
  const TempDir dir;
  const auto path = dir / "metrics.jsonl";
  MetricsFile(path).write({{"type", "a"}});
  MetricsFile again(path);
  again.write({{"type", "b"}, {"value", 1}});
  again.flush();
  EXPECT_EQ(read_text(path), "{\"type\":\"a\"}\n{\"type\":\"b\",\"value\":1}\n");
}

TEST(MetricsFile, KeepsALineThatWasCutOffApart) {
  const TempDir dir;
  const auto path = dir / "metrics.jsonl";
  write_atomically(path, "{\"type\":\"a\"}\n{\"ty");
  MetricsFile(path).write({{"type", "b"}});
  EXPECT_EQ(read_text(path), "{\"type\":\"a\"}\n{\"ty\n{\"type\":\"b\"}\n");
}

TEST(MetricsFile, NamesAFileItCannotOpen) {
  try {
    MetricsFile("/dev/null/metrics.jsonl");
    FAIL();
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("/dev/null/metrics.jsonl"), std::string::npos);
  }
}

TEST(MetricsFile, LinesWaitWhileTheDiskIsFull) {
  MetricsFile full("/dev/full");
  full.write({{"type", "a"}});
  EXPECT_THROW(full.flush(), DiskFull);
}

// As on a disk that fills up in the middle of a line.
TEST(MetricsFile, NoLineIsCutInTwo) {
  const TempDir dir;
  const auto path = dir / "metrics.jsonl";
  MetricsFile file(path);
  file.write({{"type", "a"}});
  file.flush();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto limit = [&](rlim_t bytes) {
    const rlimit limited{bytes, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limited), 0);
  };
  const auto old = std::signal(SIGXFSZ, SIG_IGN);
  limit(20);
  file.write({{"type", "b"}});
  EXPECT_THROW(file.flush(), DataError);
  EXPECT_EQ(read_text(path), "{\"type\":\"a\"}\n");
  limit(before.rlim_cur);
  std::signal(SIGXFSZ, old);
  file.flush();
  EXPECT_EQ(read_text(path), "{\"type\":\"a\"}\n{\"type\":\"b\"}\n");
}

// A pipe that nobody empties stands for a disk that stalls.
TEST(MetricsFile, ADiskThatStallsStopsNobody) {
  const TempDir dir;
  const auto path = dir / "metrics.jsonl";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  const std::string text(1000, 'x');
  std::size_t read = 0;
  {
    MetricsFile file(path);
    for (int i = 0; i < 4000; ++i) {
      file.write({{"text", text}}, MetricsFile::Need::kIfThereIsTime);
    }
    file.write({{"text", "the last"}});
    std::string end;
    while (end.find("the last") == std::string::npos) {
      std::array<char, 65536> block;
      const ssize_t got = ::read(reader, block.data(), block.size());
      if (got <= 0) continue;
      read += static_cast<std::size_t>(got);
      end = std::string(block.data(), static_cast<std::size_t>(got));
    }
  }
  ::close(reader);
  EXPECT_LT(read, 3'000'000U);  // the rest was left out
}

TEST(MetricsFile, TellsOfEpochsAndPassesOverWhatIsNone) {
  const TempDir dir;
  const auto path = dir / "metrics.jsonl";
  write_atomically(path, R"({"type":"epoch","epoch":2,"version":20,"loss":1}
{"type":"epoch","epoch":1,"version":10,"loss":2}
{"type":"epoch","epoch":1,"version":10,"loss":3}
{"type":"epoch","epoch":3,"version":30}
{"type":"progress","epoch":1,"version":1}
{"type":7}
{"type":"epoch","epoch":"2","version":20}
{"type":"epoch","epoch":2,"version":"20"}
{"type":"epoch","epoch":-2,"version":[20]}
[1]
5
{"type":"epoch","epo)");
  const std::vector<nlohmann::json> epochs = read_epochs(path, 20);
  ASSERT_EQ(epochs.size(), 2U);
  EXPECT_EQ(epochs[0]["loss"], 3);  // the last word on it
  EXPECT_EQ(epochs[1]["loss"], 1);
  EXPECT_TRUE(read_epochs(dir / "none", 20).empty());
}

}  // namespace
}  // namespace paceline
