#include "data/sparse/row_origin.h"

#include <gtest/gtest.h>

#include "base/data_error.h"
#include "base/file/file.h"
#include "base/temp_dir.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

TEST(RowOrigins, NameTheFilesAndHowTheyWereRead) {
  const TempDir folder;
  const fs::path first = folder / "a file with blanks.svm";
  const fs::path second = folder / "b.svm";
  write_atomically(first, "1 1:1\n");
  write_atomically(second, "1 2:1\n");
  RowFormatOptions format;
  format.format = RowFormat::kLibsvm;
  format.bits = 20;
  const RowOrigin origin = parse_origin(origin_of({first, second}, format, 0.25));
  EXPECT_EQ(origin.settings, "libsvm classes bits 20 test 0.25");
  EXPECT_EQ(origin.files, (std::vector<fs::path>{first, second}));
  EXPECT_EQ(origin.state, OriginState::kSame);
}

TEST(RowOrigins, KnowWhetherFilesHaveChanged) {
  const TempDir folder;
  const fs::path first = folder / "a.svm";
  const fs::path second = folder / "b.svm";
  write_atomically(first, "1 1:1\n");
  write_atomically(second, "1 2:1\n");
  const std::string text = origin_of({first, second}, {}, 0);
  const fs::file_time_type time = fs::last_write_time(first);
  fs::last_write_time(first, time + std::chrono::seconds(1));
  EXPECT_EQ(parse_origin(text).state, OriginState::kChanged);
  fs::remove(second);
  EXPECT_EQ(parse_origin(text).state, OriginState::kGone);
  EXPECT_THROW(origin_of({second}, {}, 0), DataError);
}

}  // namespace
}  // namespace paceline
