#include "data/catalogue/open.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file/file.h"
#include "base/temp_dir.h"
#include "data/idx_files.h"
#include "data/known_sets.h"

namespace paceline {
namespace {

using testing::AllOf;
using testing::HasSubstr;

DataOptions named(const std::string& name) {
  DataOptions options;
  options.name = name;
  return options;
}

void expect_estimate_is_right(const DataOptions& options, Split split) {
  const DatasetInfo info = open_dataset(options, split)->info();
  const DatasetInfo estimate = estimate_dataset(options, split);
  EXPECT_EQ(estimate.name, info.name);
  EXPECT_EQ(estimate.examples, info.examples);
  EXPECT_EQ(estimate.width, info.width);
  EXPECT_EQ(estimate.classes, info.classes);
  EXPECT_EQ(estimate.memory_bytes, info.memory_bytes);
}

TEST(OpenDataset, APipeIsRefusedBeforeItIsWaitedFor) {
  const TempDir dir;
  for (const char* name : {"rows", "reviews", "sentences", "images"}) {
    DataOptions options = named(name);
    options.text.file = dir / name;
    ASSERT_EQ(::mkfifo(options.text.file.c_str(), 0600), 0);
    try {
      estimate_dataset(options, Split::kTrain);
      FAIL() << name;
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), HasSubstr("is not a regular file")) << name;
    }
  }
}

// A user's own set: 50 training and 20 test images of 3×3.
class OwnFiles : public testing::Test {
 protected:
  OwnFiles() {
    options_.dir = dir_.path();
    write_gzip(dir_ / "train-images-idx3-ubyte.gz", image_bytes(50, 3, 3));
    write_plain(dir_ / "train-labels-idx1-ubyte", label_bytes(50));
    write_plain(dir_ / "t10k-images-idx3-ubyte", image_bytes(20, 3, 3));
    write_gzip(dir_ / "t10k-labels-idx1-ubyte.gz", label_bytes(20));
  }

  TempDir dir_;
  DataOptions options_ = named("idx");
};

TEST_F(OwnFiles, OpenInBothSplits) {
  const auto train = open_dataset(options_, Split::kTrain);
  EXPECT_EQ(train->info().name, "idx/train");
  EXPECT_EQ(train->info().examples, 50u);
  const auto test = open_dataset(options_, Split::kTest);
  EXPECT_EQ(test->info().name, "idx/test");
  EXPECT_EQ(test->info().examples, 20u);
}

TEST_F(OwnFiles, LimitIsForTrainingOnly) {
  options_.limit = 7;
  EXPECT_EQ(open_dataset(options_, Split::kTrain)->info().examples, 7u);
  EXPECT_EQ(open_dataset(options_, Split::kTest)->info().examples, 20u);
}

TEST_F(OwnFiles, EstimateIsWhatOpeningGives) {
  for (const std::uint64_t limit : {0, 7}) {
    options_.limit = limit;
    expect_estimate_is_right(options_, Split::kTrain);
    expect_estimate_is_right(options_, Split::kTest);
  }
}

TEST_F(OwnFiles, MayHaveAnotherNumberOfClasses) {
  options_.classes = 9;
  EXPECT_THROW(open_dataset(options_, Split::kTrain), DataError);
  options_.classes = 26;
  EXPECT_EQ(open_dataset(options_, Split::kTrain)->info().classes, 26);
}

TEST_F(OwnFiles, TestImagesMustBeAsLargeAsTrainingImages) {
  write_plain(dir_ / "t10k-images-idx3-ubyte", image_bytes(20, 3, 4));
  EXPECT_THAT(data_error_of([&] { open_dataset(options_, Split::kTest); }),
              AllOf(HasSubstr("9 bytes"), HasSubstr("12")));
}

TEST_F(OwnFiles, MissingOneIsNamed) {
  std::filesystem::remove(dir_ / "train-labels-idx1-ubyte");
  EXPECT_THAT(data_error_of([&] { open_dataset(options_, Split::kTrain); }),
              HasSubstr("neither train-labels-idx1-ubyte nor train-labels-idx1-ubyte.gz"));
}

TEST(OpenDataset, ThatWasNotFetchedSaysHow) {
  const TempDir dir;
  for (const std::string& name : known_set_names()) {
    DataOptions options = named(name);
    options.dir = dir.path();
    const std::string advice = "run: paceline data get " + name;
    EXPECT_THAT(data_error_of([&] { open_dataset(options, Split::kTrain); }),
                AllOf(HasSubstr(dir.path().string()), HasSubstr(advice)));
    EXPECT_THAT(data_error_of([&] { estimate_dataset(options, Split::kTest); }), HasSubstr(advice));
  }
}

TEST(OpenDataset, FilesThatWereNeverVerifiedDoNotCountAsFetched) {
  const TempDir dir;
  std::filesystem::create_directory(dir / "mnist");
  write_plain(dir / "mnist" / kTrainImages, image_bytes(50, 28, 28));
  write_plain(dir / "mnist" / kTrainLabels, label_bytes(50));
  DataOptions options = named("mnist");
  options.dir = dir.path();
  EXPECT_THROW(open_dataset(options, Split::kTrain), DataError);
}

TEST(OpenDataset, WithAnUnknownNameIsAConfigError) {
  try {
    open_dataset(named("fashion-mnits"), Split::kTrain);
    FAIL() << "there is no such set";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("synthetic"), HasSubstr("'fashion-mnist'?")));
  }
}

TEST(OpenDataset, MakesUpTheSyntheticOne) {
  DataOptions options = named("synthetic");
  options.synthetic = {.examples = 300, .test_examples = 100, .width = 6, .classes = 3, .seed = 1};
  EXPECT_EQ(open_dataset(options, Split::kTrain)->info().examples, 300u);
  EXPECT_EQ(open_dataset(options, Split::kTest)->info().examples, 100u);
  expect_estimate_is_right(options, Split::kTrain);
  expect_estimate_is_right(options, Split::kTest);
  options.limit = 20;
  EXPECT_EQ(open_dataset(options, Split::kTrain)->info().examples, 20u);
  EXPECT_EQ(open_dataset(options, Split::kTest)->info().examples, 100u);
}

TEST(ClassNames, AreOnePerLine) {
  const TempDir dir;
  write_atomically(dir / kClassNames, "cat\ndog\n");
  EXPECT_EQ(read_classes(dir.path()), (std::vector<std::string>{"cat", "dog"}));
  for (const char* wrong : {"", "\n", "cat\n\ndog\n", "cat\n\n"}) {
    write_atomically(dir / kClassNames, wrong);
    EXPECT_THROW(read_classes(dir.path()), DataError) << wrong;
  }
}

}  // namespace
}  // namespace paceline
