#include "data/gzip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/file/file.h"
#include "base/temp_dir.h"
#include "data/idx_files.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

std::string all_of(auto& reader, std::size_t at_once) {
  std::string all;
  std::string block(at_once, '\0');
  while (const std::size_t got = reader.read(std::as_writable_bytes(std::span(block)))) {
    all.append(block, 0, got);
  }
  return all;
}

std::string read_all(const fs::path& path, std::size_t at_once) {
  GzipReader reader(path);
  return all_of(reader, at_once);
}

class GzipFile : public testing::Test {
 protected:
  TempDir dir_;
  fs::path path_ = dir_ / "file";
  std::string text_ = image_bytes(500, 20, 20);
};

TEST_F(GzipFile, ReadsCompressedAndPlainAlike) {
  write_gzip(path_, text_);
  EXPECT_LT(fs::file_size(path_), text_.size());
  EXPECT_EQ(read_all(path_, 1000), text_);
  write_plain(path_, text_);
  EXPECT_EQ(read_all(path_, 1000), text_);
}

TEST_F(GzipFile, FillsTheWholeSpanUnlessTheFileEnds) {
  write_gzip(path_, text_);
  GzipReader reader(path_);
  std::string block(text_.size() - 5, '\0');
  EXPECT_EQ(reader.read(std::as_writable_bytes(std::span(block))), block.size());
  EXPECT_EQ(reader.read(std::as_writable_bytes(std::span(block))), 5u);
  EXPECT_EQ(reader.read(std::as_writable_bytes(std::span(block))), 0u);
}

TEST_F(GzipFile, CutOffAnywhereIsADataError) {
  write_gzip(path_, text_);
  const auto whole = fs::file_size(path_);
  for (const std::uintmax_t size : {whole - 1, whole - 8, whole / 2, std::uintmax_t{12}}) {
    write_gzip(path_, text_);
    fs::resize_file(path_, size);
    EXPECT_THAT(data_error_of([&] { read_all(path_, 1 << 20); }),
                AllOf(HasSubstr(path_.string()), HasSubstr("cut off")))
        << size << " of " << whole;
  }
}

TEST_F(GzipFile, WithAWrongSumIsADataError) {
  write_gzip(path_, text_);
  std::string stored = read_text(path_);
  stored[stored.size() - 6] ^= 1;  // in the CRC, which the last 8 bytes begin with
  write_plain(path_, stored);
  EXPECT_THAT(data_error_of([&] { read_all(path_, 1 << 20); }),
              AllOf(HasSubstr(path_.string()), HasSubstr("corrupt")));
}

TEST_F(GzipFile, MissingOrFolderIsADataError) {
  EXPECT_THAT(data_error_of([&] { GzipReader reader(dir_ / "missing"); }),
              AllOf(HasSubstr("missing"), HasSubstr("No such file")));
  EXPECT_THAT(data_error_of([&] { GzipReader reader(dir_.path()); }), HasSubstr("is a folder"));
}

TEST_F(GzipFile, NeverHoldsMoreThanItSays) {
  const std::string zeros(1 << 22, '\0');
  write_gzip(path_, zeros);
  EXPECT_GE(GzipReader(path_).most_bytes(), zeros.size());
  write_plain(path_, text_);
  EXPECT_EQ(GzipReader(path_).most_bytes(), text_.size());
}

// What comes in pieces that fit nothing, one member after the other.
class Gzipped : public GzipFile {
 protected:
  std::string stored(const std::string& text) {
    write_gzip(path_, text);
    return read_text(path_);
  }
  static std::string inflated(std::string_view stored, std::size_t piece, std::size_t at_once) {
    GzipStream stream(
        [&](std::span<std::byte> into) {
          const std::size_t bytes = std::min({stored.size(), into.size(), piece});
          std::memcpy(into.data(), stored.data(), bytes);
          stored.remove_prefix(bytes);
          return bytes;
        },
        "the pipe");
    return all_of(stream, at_once);
  }
};

TEST_F(Gzipped, ComesInPieces) {
  const std::string two = stored(text_) + stored("more");
  EXPECT_TRUE(GzipStream::has_magic(two));
  for (const std::size_t piece : {1U, 7U, 100'000U}) {
    for (const std::size_t at_once : {1000U, 1'000'000U}) {
      EXPECT_EQ(inflated(two, piece, at_once), text_ + "more");
      EXPECT_EQ(inflated(two + std::string(100, '\0'), piece, at_once), text_ + "more");
    }
  }
  EXPECT_EQ(inflated("", 1, 10), "");
}

TEST_F(Gzipped, SaysWhatIsWrongWithIt) {
  const auto sentence = [](const std::string& stored) {
    try {
      inflated(stored, 100, 1000);
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  const std::string whole = stored(text_);
  for (const std::size_t cut : {1U, 8U, 100U}) {
    EXPECT_THAT(sentence(whole.substr(0, whole.size() - cut)),
                AllOf(HasSubstr("the pipe"), HasSubstr("cut off")));
  }
  std::string damaged = whole;
  damaged[damaged.size() - 6] ^= 1;  // in its sum
  EXPECT_THAT(sentence(damaged), HasSubstr("corrupt"));
}

}  // namespace
}  // namespace paceline
