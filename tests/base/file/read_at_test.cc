#include "base/file/read_at.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "base/file/file.h"
#include "base/temp_dir.h"

namespace paceline {
namespace {

class ReadAt : public testing::Test {
 protected:
  ReadAt() {
    write_atomically(dir_ / "file", "0123456789");
    file_ = ::open(dir_.file("file").c_str(), O_RDONLY | O_CLOEXEC);
  }
  ~ReadAt() override { ::close(file_); }

  std::string read(std::uint64_t offset, std::size_t length) const {
    std::string text(length, '\0');
    text.resize(read_at(file_, offset, std::as_writable_bytes(std::span(text))).value());
    return text;
  }

  TempDir dir_;
  int file_ = -1;
};

TEST_F(ReadAt, GivesWhatIsThere) {
  EXPECT_EQ(read(0, 10), "0123456789");
  EXPECT_EQ(read(7, 2), "78");
  EXPECT_EQ(read(3, 0), "");
}

TEST_F(ReadAt, GivesFewerBytesWhereTheFileEnds) {
  EXPECT_EQ(read(8, 5), "89");
  EXPECT_EQ(read(10, 1), "");
  EXPECT_EQ(read(100, 1), "");
}

TEST_F(ReadAt, LeavesTheReasonWhenItCannot) {
  std::array<std::byte, 1> byte{};
  EXPECT_FALSE(read_at(-1, 0, byte).has_value());
  EXPECT_EQ(errno, EBADF);
}

}  // namespace
}  // namespace paceline
