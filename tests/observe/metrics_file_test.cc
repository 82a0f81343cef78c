#include "observe/metrics_file.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "base/temp_dir.h"

namespace paceline {
namespace {

TEST(MetricsFile, AppendsOneObjectPerLine) {
  const TempDir dir;
  const auto path = dir / "metrics.jsonl";
  MetricsFile(path).write({{"type", "a"}});
  MetricsFile again(path);
  again.write({{"type", "b"}, {"value", 1}});
  EXPECT_EQ(read_text(path), "{\"type\":\"a\"}\n{\"type\":\"b\",\"value\":1}\n");
}

TEST(MetricsFile, NamesAFileItCannotOpen) {
  try {
    MetricsFile("/dev/null/metrics.jsonl");
    FAIL();
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("/dev/null/metrics.jsonl"), std::string::npos);
  }
}

TEST(MetricsFile, AFullDiskIsAnError) {
  MetricsFile full("/dev/full");
  EXPECT_THROW(full.write({{"type", "a"}}), DataError);
}

}  // namespace
}  // namespace paceline
