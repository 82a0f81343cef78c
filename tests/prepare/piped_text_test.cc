#include "prepare/piped_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <array>
#include <thread>

#include "base/error.h"
#include "base/file/file.h"
#include "base/temp_dir.h"

namespace paceline {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string zstd(const std::string& text) {
  std::string stored(::ZSTD_compressBound(text.size()), '\0');
  stored.resize(::ZSTD_compress(stored.data(), stored.size(), text.data(), text.size(), 1));
  return stored;
}

std::string gzip(const std::string& text) {
  const TempDir dir;
  const gzFile file = ::gzopen(dir.file("file").c_str(), "wb");
  ::gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  ::gzclose(file);
  return read_text(dir / "file");
}

// A real pipe, written to by a thread.
class Pipe {
 public:
  explicit Pipe(std::string bytes, std::size_t at_once = 1000) {
    if (::pipe(ends_.data()) != 0) throw Error("no pipe");
    writer_ = std::thread([this, at_once, bytes = std::move(bytes)] {
      for (std::size_t i = 0; i < bytes.size(); i += at_once) {
        const std::size_t count = std::min(at_once, bytes.size() - i);
        if (::write(ends_[1], bytes.data() + i, count) < 0) break;
      }
      ::close(ends_[1]);
    });
  }
  ~Pipe() {
    writer_.join();
    ::close(ends_[0]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int end() const { return ends_[0]; }

 private:
  std::array<int, 2> ends_{};
  std::thread writer_;
};

std::string rest_of(PipedText& text) {
  std::string all;
  std::string block(777, '\0');
  while (const std::size_t got = text.read(std::as_writable_bytes(std::span(block)))) {
    all.append(block, 0, got);
    if (got < block.size()) break;
  }
  return all;
}

const StopFlag kGoOn = false;

TEST(PipedTextTest, IsReadHoweverItIsCompressed) {
  std::string content = "the first line\n";
  for (int i = 0; i < 9000; ++i) content += "line " + std::to_string(i * i) + "\n";
  for (const std::string& stored : {content, gzip(content), zstd(content)}) {
    for (const std::size_t at_once : {1U, 1000U}) {
      const Pipe pipe(stored, at_once);
      PipedText text(pipe.end(), kGoOn);
      EXPECT_EQ(text.first_line(), "the first line");
      EXPECT_EQ(rest_of(text), content);
      EXPECT_EQ(text.consumed(), stored.size());
    }
  }
}

TEST(PipedTextTest, MayBeginWithBlankLines) {
  const Pipe pipe("\n \r\n\n5,fine\n");
  PipedText text(pipe.end(), kGoOn);
  EXPECT_EQ(text.first_line(), "5,fine");
  EXPECT_EQ(rest_of(text), "\n \r\n\n5,fine\n");
}

TEST(PipedTextTest, MayBeginWithAMarkAndQuotes) {
  const std::string content = "\xEF\xBB\xBF\n\"a\nb\",text\r\nfine\n";
  const Pipe pipe(content);
  PipedText text(pipe.end(), kGoOn);
  EXPECT_EQ(text.first_line(), "\"a");
  EXPECT_EQ(text.first_line(true), "\"a\nb\",text");
  EXPECT_EQ(rest_of(text), content);
}

TEST(PipedTextTest, MayBeShortOrEmpty) {
  for (const std::string content : {"", "5", "ab", "abc\n"}) {
    const Pipe pipe(content);
    PipedText text(pipe.end(), kGoOn);
    EXPECT_EQ(text.first_line(), content.substr(0, 3));
    EXPECT_EQ(rest_of(text), content);
  }
}

TEST(PipedTextTest, ThatIsCutOffIsRefused) {
  std::string content;
  for (int i = 0; i < 9000; ++i) content += std::to_string(i * i);
  for (std::string stored : {gzip(content), zstd(content)}) {
    stored.resize(stored.size() - 20);
    const Pipe pipe(stored);
    PipedText text(pipe.end(), kGoOn);
    try {
      rest_of(text);
      ADD_FAILURE() << "it was read";
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("standard input"), HasSubstr("cut off")));
    }
  }
}

TEST(PipedTextTest, WaitsNoLongerThanItMay) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ASSERT_EQ(::write(ends[1], "begun", 5), 5);
  StopFlag stop = false;
  PipedText text(ends[0], stop);
  stop = true;
  EXPECT_THROW(text.first_line(), Interrupted);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace paceline
