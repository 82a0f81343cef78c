#include "data/idx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <numeric>

#include "base/file/file.h"
#include "base/temp_dir.h"
#include "data/idx_files.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

Batch read_all(const Dataset& dataset) {
  std::vector<std::uint64_t> examples(dataset.info().examples);
  std::iota(examples.begin(), examples.end(), std::uint64_t{0});
  Batch batch;
  dataset.read(examples, batch);
  return batch;
}

void expect_content(const Dataset& dataset, std::uint64_t count, std::size_t width) {
  ASSERT_EQ(dataset.info().examples, count);
  ASSERT_EQ(dataset.info().width, width);
  const Batch batch = read_all(dataset);
  for (std::uint64_t i = 0; i < count; ++i) {
    ASSERT_EQ(batch.labels[i], static_cast<std::int32_t>(i % 10));
    for (std::size_t j = 0; j < width; ++j) {
      ASSERT_EQ(batch.rows[i][j], static_cast<std::uint8_t>(i * 7 + j)) << i << " " << j;
    }
  }
}

// A right set of 300 images of 5×4 bytes; each test spoils one thing.
class Idx : public testing::Test {
 protected:
  Idx() {
    write_plain(images_, image_bytes(kCount, 5, 4));
    write_plain(labels_, label_bytes(kCount));
  }
  std::unique_ptr<Dataset> open(const IdxOptions& options = {}) {
    return open_idx(images_, labels_, "set", options);
  }
  std::string error() {
    return data_error_of([&] { open(); });
  }

  static constexpr std::uint32_t kCount = 300;
  TempDir dir_;
  fs::path images_ = dir_ / "images";
  fs::path labels_ = dir_ / "labels";
};

TEST_F(Idx, APipeIsRefusedBeforeItIsWaitedFor) {
  for (const fs::path& file : {images_, labels_}) {
    fs::remove(file);
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
    EXPECT_THAT(error(), AllOf(HasSubstr(file.string()), HasSubstr("is not a regular file")));
    fs::remove(file);
    write_plain(file, file == images_ ? image_bytes(kCount, 5, 4) : label_bytes(kCount));
  }
  EXPECT_EQ(error(), "no DataError");
}

TEST_F(Idx, ReadsPlainFiles) {
  const auto dataset = open();
  EXPECT_EQ(dataset->info().name, "set");
  EXPECT_EQ(dataset->info().classes, 10);
  expect_content(*dataset, kCount, 20);
}

TEST_F(Idx, ReadsCompressedFiles) {
  write_gzip(images_, image_bytes(kCount, 5, 4));
  write_gzip(labels_, label_bytes(kCount));
  expect_content(*open(), kCount, 20);
}

TEST_F(Idx, KeepsOnlyTheFirstExamplesWithALimit) {
  expect_content(*open({.limit = 7}), 7, 20);
  expect_content(*open({.limit = kCount}), kCount, 20);
  expect_content(*open({.limit = kCount + 1}), kCount, 20);
}

TEST_F(Idx, ChecksTheWholeFileInSpiteOfALimit) {
  write_gzip(images_, image_bytes(kCount, 5, 4));
  fs::resize_file(images_, fs::file_size(images_) - 1);
  EXPECT_THROW(open({.limit = 7}), DataError);
}

TEST_F(Idx, EstimateIsWhatOpeningGives) {
  for (const IdxOptions options : {IdxOptions{}, IdxOptions{.classes = 12, .limit = 7}}) {
    const DatasetInfo expected = open(options)->info();
    const DatasetInfo info = estimate_idx(images_, "set", options);
    EXPECT_EQ(info.name, expected.name);
    EXPECT_EQ(info.examples, expected.examples);
    EXPECT_EQ(info.width, expected.width);
    EXPECT_EQ(info.classes, expected.classes);
    EXPECT_EQ(info.memory_bytes, expected.memory_bytes);
  }
}

TEST_F(Idx, MissingFileIsNamed) {
  fs::remove(labels_);
  EXPECT_THAT(error(), AllOf(HasSubstr(labels_.string()), HasSubstr("No such file")));
}

TEST_F(Idx, EmptyFileIsNamed) {
  write_plain(images_, "");
  EXPECT_THAT(error(), AllOf(HasSubstr(images_.string()), HasSubstr("ends inside its header")));
}

TEST_F(Idx, CutOffInTheHeader) {
  fs::resize_file(labels_, 6);
  EXPECT_THAT(error(), AllOf(HasSubstr(labels_.string()), HasSubstr("ends inside its header")));
}

TEST_F(Idx, CutOffPlainSaysWhatWasExpectedAndFound) {
  fs::resize_file(images_, fs::file_size(images_) - 1);
  EXPECT_THAT(error(), AllOf(HasSubstr(images_.string()), HasSubstr("300 examples of 20 bytes"),
                             HasSubstr("5,999")));
  EXPECT_THROW(estimate_idx(images_, "set"), DataError);
}

TEST_F(Idx, CutOffCompressed) {
  write_gzip(images_, image_bytes(kCount, 5, 4));
  fs::resize_file(images_, fs::file_size(images_) - 4);
  EXPECT_THAT(error(), AllOf(HasSubstr(images_.string()), HasSubstr("cut off")));
}

TEST_F(Idx, CompressedButShorterThanItsHeaderSays) {
  const std::string whole = image_bytes(kCount, 5, 4);
  write_gzip(images_, whole.substr(0, whole.size() - 3));
  EXPECT_THAT(error(), AllOf(HasSubstr(images_.string()), HasSubstr("expected 6,000"),
                             HasSubstr("found 5,997")));
}

TEST_F(Idx, CorruptCompressedData) {
  write_gzip(images_, image_bytes(kCount, 5, 4));
  std::string stored = read_text(images_);
  stored[stored.size() - 8] ^= 0x55;
  write_plain(images_, stored);
  EXPECT_THAT(error(), AllOf(HasSubstr(images_.string()), HasSubstr("corrupt")));
}

TEST_F(Idx, WrongMagicNumber) {
  write_plain(images_, "<!DOCTYPE html><html>not found</html>");
  EXPECT_THAT(error(), AllOf(HasSubstr(images_.string()), HasSubstr("expected the magic number"),
                             HasSubstr("0x00000803"), HasSubstr("0x3c21444f")));
}

TEST_F(Idx, SwappedFilesAreRecognized) {
  std::swap(images_, labels_);
  EXPECT_THAT(error(), HasSubstr("are images and labels swapped?"));
}

TEST_F(Idx, DifferentCounts) {
  write_plain(labels_, label_bytes(kCount - 1));
  EXPECT_THAT(error(), AllOf(HasSubstr("300 images"), HasSubstr("299 labels")));
}

TEST_F(Idx, LabelOutOfRange) {
  std::string bytes = label_bytes(kCount);
  bytes[8 + 42] = 10;
  write_plain(labels_, bytes);
  EXPECT_THAT(error(), AllOf(HasSubstr(labels_.string()), HasSubstr("example 42 is 10"),
                             HasSubstr("less than 10")));
  EXPECT_EQ(open({.classes = 11})->info().classes, 11);
}

TEST_F(Idx, AbsurdSizesAreRefusedBeforeAnythingIsAllocated) {
  const std::vector<std::vector<std::uint32_t>> headers = {
      {kImageMagic, 0xffffffff, 0xffffffff, 0xffffffff},
      {kImageMagic, 0x80000000, 0x80000000, 4},
      {kImageMagic, 300, 0x10000, 0x10000}};
  for (const auto& header : headers) {
    write_plain(images_, big_endian(header) + std::string(100, 'x'));
    EXPECT_THAT(error(), AllOf(HasSubstr(images_.string()), HasSubstr("header promises")));
    write_gzip(images_, big_endian(header) + std::string(100, 'x'));
    EXPECT_THAT(error(), AllOf(HasSubstr(images_.string()), HasSubstr("header promises")));
  }
}

TEST_F(Idx, NothingToReadIsRefused) {
  for (const auto& shape : {std::array{0u, 5u, 4u}, std::array{300u, 0u, 4u}}) {
    write_plain(images_, big_endian({kImageMagic, shape[0], shape[1], shape[2]}));
    EXPECT_THAT(error(), HasSubstr("nothing to read"));
  }
}

TEST_F(Idx, TrailingBytes) {
  write_plain(images_, image_bytes(kCount, 5, 4) + "x");
  EXPECT_THAT(error(), AllOf(HasSubstr(images_.string()), HasSubstr("trailing bytes")));
  write_gzip(images_, image_bytes(kCount, 5, 4) + "x");
  EXPECT_THAT(error(), HasSubstr("trailing bytes"));
  write_plain(images_, image_bytes(kCount, 5, 4));
  write_gzip(labels_, label_bytes(kCount) + std::string(100'000, 'x'));
  EXPECT_THAT(error(), AllOf(HasSubstr(labels_.string()), HasSubstr("trailing bytes")));
}

TEST_F(Idx, FindsPlainBeforeCompressed) {
  EXPECT_THAT(data_error_of([&] { find_idx(dir_.path(), "x"); }),
              AllOf(HasSubstr("neither x nor x.gz"), HasSubstr(dir_.path().string())));
  write_gzip(dir_ / "x.gz", "text");
  EXPECT_EQ(find_idx(dir_.path(), "x"), dir_ / "x.gz");
  write_plain(dir_ / "x", "text");
  EXPECT_EQ(find_idx(dir_.path(), "x"), dir_ / "x");
}

}  // namespace
}  // namespace paceline
