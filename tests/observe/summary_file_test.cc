#include "observe/summary_file.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file/file.h"
#include "base/temp_dir.h"

namespace paceline {
namespace {

TEST(SummaryFile, IsAnObjectOrNullOrDamaged) {
  const TempDir dir;
  EXPECT_TRUE(read_summary(dir.path()).is_null());
  write_atomically(dir / "summary.json", R"({"status": "complete"})");
  EXPECT_EQ(read_summary(dir.path())["status"], "complete");
  for (const char* wrong : {"", "{", "[]", "5", "null", "\"complete\""}) {
    write_atomically(dir / "summary.json", wrong);
    EXPECT_THROW(read_summary(dir.path()), DataError) << wrong;
  }
}

}  // namespace
}  // namespace paceline
