#include "base/file/random_access_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "base/temp_dir.h"
#include "checkpoint/sample.h"

namespace paceline {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string text_at(const RandomAccessFile& file, std::uint64_t offset, std::size_t length) {
  std::string text(length, '\0');
  file.read(offset, std::as_writable_bytes(std::span(text)));
  return text;
}

TEST(RandomAccessFile, ReadsAtAnyOffset) {
  const TempDir dir;
  write_bytes(dir / "file", "0123456789");
  const RandomAccessFile file(dir / "file");
  EXPECT_EQ(file.size(), 10u);
  EXPECT_EQ(text_at(file, 7, 3), "789");
  EXPECT_EQ(text_at(file, 0, 4), "0123");
  EXPECT_EQ(text_at(file, 10, 0), "");
}

TEST(RandomAccessFile, SaysWhereAFileEndsThatIsTooShort) {
  const TempDir dir;
  write_bytes(dir / "file", "0123456789");
  const RandomAccessFile file(dir / "file");
  EXPECT_THAT(data_error_of([&] { text_at(file, 8, 3); }),
              AllOf(HasSubstr((dir / "file").string()), HasSubstr("ends after 10 bytes")));
}

TEST(RandomAccessFile, ThatIsMissingIsNamed) {
  const TempDir dir;
  EXPECT_THAT(data_error_of([&] { RandomAccessFile file(dir / "missing"); }),
              AllOf(HasSubstr((dir / "missing").string()), HasSubstr("No such file")));
}

TEST(RandomAccessFile, RefusesWhatIsNoFile) {
  const TempDir dir;
  EXPECT_THAT(data_error_of([&] { RandomAccessFile file(dir.path()); }),
              AllOf(HasSubstr(dir.path().string()), HasSubstr("it is a folder")));
  ASSERT_EQ(::mkfifo(dir.file("pipe").c_str(), 0600), 0);
  EXPECT_THAT(data_error_of([&] { RandomAccessFile file(dir / "pipe"); }),
              AllOf(HasSubstr("pipe"), HasSubstr("it is not a regular file")));
}

}  // namespace
}  // namespace paceline
