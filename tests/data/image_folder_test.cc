#include "data/image_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <numeric>

#include "base/data_error.h"
#include "base/temp_dir.h"
#include "data/ppm_files.h"

namespace paceline {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// A decoder for PPM files alone, which takes the nearest pixels.
bool decode_ppm(const std::filesystem::path& path, std::uint32_t side,
                std::span<std::uint8_t> out) {
  std::ifstream in(path, std::ios::binary);
  std::string magic;
  std::uint32_t width = 0, height = 0, most = 0;
  if (!(in >> magic >> width >> height >> most) || magic != "P6") return false;
  in.get();
  std::vector<char> rgb(std::size_t{width} * height * 3);
  if (!in.read(rgb.data(), static_cast<std::streamsize>(rgb.size()))) return false;
  for (std::uint32_t y = 0; y < side; ++y) {
    for (std::uint32_t x = 0; x < side; ++x) {
      for (std::uint32_t c = 0; c < 3; ++c) {
        out[(y * side + x) * 3 + c] =
            static_cast<std::uint8_t>(rgb[(y * height / side * width + x * width / side) * 3 + c]);
      }
    }
  }
  return true;
}

class ImageFolderTest : public testing::Test {
 protected:
  ImageFolderTest() {
    register_image_decoder(decode_ppm);
    folders_.folder = dir_ / "train";
    options_.size = 4;
    fill("train", "dog", 60, 100);
    fill("train", "cat", 60, 200);
    write_atomically(dir_ / "train/cat/notes.txt", "this is no image");
  }
  ~ImageFolderTest() override { register_image_decoder({}); }

  void fill(const std::string& folder, const std::string& name, int count, std::uint8_t red) {
    for (int i = 0; i < count; ++i) {
      write_plain_ppm(dir_ / folder / name / (std::to_string(i) + ".ppm"), 8, red,
                      static_cast<std::uint8_t>(i), 0);
    }
  }
  std::unique_ptr<Dataset> open(Split split, std::uint64_t limit = 0) const {
    return open_image_folder(folders_, options_, split, limit, "images/x");
  }
  static Batch read_all(const Dataset& dataset, std::uint64_t epoch = 0) {
    Batch batch;
    batch.epoch = epoch;
    batch.examples.resize(dataset.info().examples);
    std::iota(batch.examples.begin(), batch.examples.end(), 0);
    dataset.read(batch.examples, batch);
    return batch;
  }
  // What a batch shows, one number after the other.
  static std::vector<std::uint8_t> bytes_of(const Batch& batch) {
    std::vector<std::uint8_t> bytes;
    for (const std::uint8_t* row : batch.rows) bytes.insert(bytes.end(), row, row + batch.width);
    return bytes;
  }

  TempDir dir_;
  ImageFolders folders_;
  ImageOptions options_;
};

TEST_F(ImageFolderTest, ClassesAreTheFoldersInAlphabeticalOrder) {
  EXPECT_THAT(image_classes(folders_.folder), ElementsAre("cat", "dog"));
  folders_.test_share = 0;
  const auto train = open(Split::kTrain);
  EXPECT_EQ(train->info().examples, 120U);
  EXPECT_EQ(train->info().classes, 2);
  EXPECT_EQ(train->info().image, (ImageShape{4, 4, 3}));
  const Batch batch = read_all(*train);
  EXPECT_EQ(batch.weight, 120);
  EXPECT_TRUE(batch.weights.empty());
  int dogs_first = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    EXPECT_EQ(batch.rows[i][0], batch.labels[i] == 0 ? 200 : 100);
    dogs_first += i < 40 ? batch.labels[i] : 0;
  }
  EXPECT_GT(dogs_first, 8);  // the classes are mixed
  EXPECT_LT(dogs_first, 32);
}

TEST_F(ImageFolderTest, APartOfTheFolderIsForTesting) {
  folders_.test_share = 0.25;
  const auto train = open(Split::kTrain);
  const auto test = open(Split::kTest);
  EXPECT_EQ(train->info().examples + test->info().examples, 120U);
  EXPECT_GT(test->info().examples, 10U);
  EXPECT_LT(test->info().examples, 60U);
  std::set<std::pair<int, int>> seen;
  for (const Dataset* part : {train.get(), test.get()}) {
    const Batch batch = read_all(*part);
    for (const std::uint8_t* row : batch.rows) EXPECT_TRUE(seen.insert({row[0], row[1]}).second);
  }
  EXPECT_EQ(open(Split::kTrain, 7)->info().examples, 7U);
  EXPECT_EQ(open(Split::kTest, 7)->info().examples, test->info().examples);
}

TEST_F(ImageFolderTest, EstimatesAreWhatOpeningGives) {
  for (const Split split : {Split::kTrain, Split::kTest}) {
    const DatasetInfo estimate = estimate_image_folder(folders_, options_, split, 50, "images/x");
    const DatasetInfo info = open(split, 50)->info();
    EXPECT_EQ(estimate.examples, info.examples);
    EXPECT_EQ(estimate.width, info.width);
    EXPECT_EQ(estimate.classes, info.classes);
    EXPECT_EQ(estimate.memory_bytes, info.memory_bytes);
  }
}

TEST_F(ImageFolderTest, AugmentationIsAFunctionOfSeedEpochAndExample) {
  std::vector<std::uint8_t> rgb;
  for (int i = 0; i < 8 * 8; ++i) {
    rgb.insert(rgb.end(), {static_cast<std::uint8_t>(i), 0, 0});
  }
  for (int i = 0; i < 60; ++i) {
    write_ppm(dir_ / "train/cat" / (std::to_string(i) + ".ppm"), 8, 8, rgb);
  }
  options_ = {.size = 7, .augment = true, .seed = 3};
  const auto train = open(Split::kTrain);
  const auto first = bytes_of(read_all(*train, 0));
  EXPECT_EQ(bytes_of(read_all(*open(Split::kTrain), 0)), first);
  EXPECT_NE(bytes_of(read_all(*train, 1)), first);
  options_.seed = 4;
  EXPECT_NE(bytes_of(read_all(*open(Split::kTrain), 0)), first);

  // Alone it is what it is among others; all four corners and both directions appear.
  std::set<int> starts;
  const Batch all = read_all(*train, 0);
  for (std::size_t i = 0; i < all.size(); ++i) {
    Batch one;
    one.examples = {i};
    train->read(one.examples, one);
    EXPECT_EQ(bytes_of(one), std::vector(all.rows[i], all.rows[i] + all.width));
    if (all.labels[i] == 0) starts.insert(all.rows[i][0]);
  }
  EXPECT_THAT(starts, ElementsAre(0, 1, 6, 7, 8, 9, 14, 15));

  const auto plain = bytes_of(read_all(*open(Split::kTest), 0));
  EXPECT_EQ(bytes_of(read_all(*open(Split::kTest), 1)), plain);
}

TEST_F(ImageFolderTest, OneThatCannotBeDecodedWeighsNothingAndIsNamed) {
  folders_.test_share = 0;
  write_atomically(dir_ / "train/dog/17.ppm", "P6 half an im");
  const auto train = open(Split::kTrain);
  EXPECT_TRUE(train->unreadable().empty());
  for (int again = 0; again < 2; ++again) {
    const Batch batch = read_all(*train);
    EXPECT_EQ(batch.weight, 119);
    ASSERT_EQ(batch.weights.size(), 120U);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      EXPECT_EQ(batch.weights[i] == 0, batch.rows[i][0] == 0);  // black
    }
    EXPECT_THAT(train->unreadable(), ElementsAre((dir_ / "train/dog/17.ppm").string()));
  }
  write_atomically(dir_ / "train/dog/18.ppm", "");
  EXPECT_THAT(data_error_of([&] { read_all(*train); }),
              AllOf(HasSubstr("2 of 120 images"), HasSubstr("more than 1 %"),
                    HasSubstr("dog/17.ppm"), HasSubstr("dog/18.ppm")));
}

TEST(ExpectFewUnreadable, OneInAHundredIsStillFew) {
  DatasetInfo data;
  data.name = "pets/train";
  data.examples = 399;
  expect_few_unreadable({}, data);
  expect_few_unreadable({"a", "b", "c"}, data);
  EXPECT_THAT(data_error_of([&] {
                expect_few_unreadable({"a", "b", "c", "d"}, data);
              }),
              AllOf(HasSubstr("pets/train: 4 of 399"), HasSubstr("a, b, c, …")));
}

TEST_F(ImageFolderTest, AClassThatIsMissingIsNamed) {
  folders_.test_folder = dir_ / "test";
  EXPECT_THAT(data_error_of([&] { open(Split::kTrain); }), HasSubstr("test"));
  fill("test", "cat", 3, 200);
  fill("test", "cow", 3, 50);
  EXPECT_THAT(data_error_of([&] { open(Split::kTrain); }),
              AllOf(HasSubstr("'cow'"), HasSubstr("has no folder in"), HasSubstr("train")));
  std::filesystem::remove_all(dir_ / "test/cow");
  std::filesystem::create_directories(dir_ / "test/cat");
  fill("test", "dot", 1, 0);
  std::filesystem::remove_all(dir_ / "test/dot");
  EXPECT_THAT(data_error_of([&] { open(Split::kTest); }),
              AllOf(HasSubstr("'dog'"), HasSubstr("has no folder in"), HasSubstr("test")));
  fill("train", "elk", 1, 0);
  fill("test", "dog", 3, 100);
  EXPECT_THAT(data_error_of([&] { open(Split::kTest); }),
              AllOf(HasSubstr("'elk'"), HasSubstr("has no folder in"), HasSubstr("test")));
  std::filesystem::create_directories(dir_ / "test/elk");
  EXPECT_THAT(data_error_of([&] { open(Split::kTest); }),
              AllOf(HasSubstr("'elk' has no images"), HasSubstr("test/elk")));
  fill("test", "elk", 2, 0);
  EXPECT_EQ(open(Split::kTest)->info().examples, 8U);
  EXPECT_EQ(open(Split::kTrain)->info().examples, 121U);
}

TEST_F(ImageFolderTest, FoldersThatHoldNothingAreNamed) {
  folders_.folder = dir_ / "nowhere";
  EXPECT_THAT(data_error_of([&] { open(Split::kTrain); }), HasSubstr("nowhere"));
  std::filesystem::create_directories(folders_.folder);
  EXPECT_THAT(data_error_of([&] { open(Split::kTrain); }), HasSubstr("no folders in it"));
  folders_.folder = dir_ / "train";
  folders_.test_share = 0;
  EXPECT_THAT(data_error_of([&] { open(Split::kTest); }), HasSubstr("--test-share"));
}

TEST_F(ImageFolderTest, APipeIsRefusedBeforeItIsWaitedFor) {
  const auto pipe = dir_ / "train/cat/pipe.ppm";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto refusal = AllOf(HasSubstr("cat/pipe.ppm"), HasSubstr("is not a regular file"));
  EXPECT_THAT(data_error_of([&] { open(Split::kTrain); }), refusal);
  EXPECT_THAT(data_error_of([&] { open_image_files(pipe, options_); }), refusal);
}

TEST_F(ImageFolderTest, FilesForPredictionAreInTheirOrderAndAllReadable) {
  const auto files = open_image_files(dir_ / "train/dog", options_);
  EXPECT_EQ(files->info().examples, 60U);
  const Batch batch = read_all(*files);
  EXPECT_EQ(batch.rows[1][1], 1);   // 1.ppm
  EXPECT_EQ(batch.rows[2][1], 10);  // 10.ppm
  const auto one = open_image_files(dir_ / "train/dog/33.ppm", options_);
  EXPECT_EQ(read_all(*one).rows[0][1], 33);
  const auto none = open_image_files(dir_ / "train/cat/notes.txt", options_);
  EXPECT_THAT(data_error_of([&] { read_all(*none); }), HasSubstr("notes.txt"));
}

}  // namespace
}  // namespace paceline
