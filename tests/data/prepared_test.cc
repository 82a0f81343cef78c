#include "data/prepared.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/data_error.h"
#include "base/file/file.h"
#include "base/temp_dir.h"
#include "data/prepared_file.h"
#include "data/text.h"

namespace paceline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Prepared : public testing::Test {
 protected:
  Prepared() { options_.file = folder_ / "reviews.h5"; }

  // Three reviews of at most three words.
  void write_three() {
    PreparedFile(options_.file)
        .version(1)
        .words({"good", "bad", "Übel"})
        .part("train", 3, {4, 4, 5, 6, 0, 0, 1, 5, 0}, {1, 0, 0});
  }
  std::unique_ptr<Dataset> open(Split split, std::uint64_t limit = 0) {
    return open_texts(TextKind::kReviews, options_, split, limit, "reviews");
  }
  static Batch read_all(const Dataset& dataset) {
    std::vector<std::uint64_t> examples(dataset.info().examples);
    std::iota(examples.begin(), examples.end(), 0);
    Batch batch;
    dataset.read(examples, batch);
    return batch;
  }
  static std::vector<std::int32_t> tokens(const Batch& batch, std::size_t row) {
    const auto sequence = sequence_of(batch.rows[row], 0);
    return {sequence.begin(), sequence.end()};
  }

  TempDir folder_;
  TextOptions options_;
};

TEST_F(Prepared, ReviewsAreReadWithoutTheirPadding) {
  write_three();
  options_.test_share = 0;
  const auto dataset = open(Split::kTrain);
  const Batch batch = read_all(*dataset);
  EXPECT_THAT(batch.labels, ElementsAre(1, 0, 0));
  EXPECT_THAT(tokens(batch, 0), ElementsAre(4, 4, 5));
  EXPECT_THAT(tokens(batch, 1), ElementsAre(6));
  EXPECT_THAT(tokens(batch, 2), ElementsAre(1, 5));
  EXPECT_EQ(open(Split::kTrain, 2)->info().examples, 2U);
  EXPECT_EQ(estimate_texts(TextKind::kReviews, options_, Split::kTrain, 2, "a").examples, 2U);
}

TEST_F(Prepared, TheFileSaysHowManyWordsThereAre) {
  write_three();
  const auto size = prepared_size(options_);
  ASSERT_TRUE(size.has_value());
  EXPECT_EQ(size->vocabulary, 7U);
  EXPECT_EQ(size->length, 3U);
  const auto words = vocabularies_of(TextKind::kReviews, options_, 0);
  ASSERT_EQ(words.size(), 1U);
  EXPECT_EQ(words[0].number("Übel"), 6);
  TextOptions chosen;
  chosen.file = options_.file;
  chosen.vocabulary = 50;
  chosen.length = 2;
  chosen.cut = TextCut::kStart;
  chosen.test_share = 0;
  const auto cut = open_texts(TextKind::kReviews, chosen, Split::kTrain, 0, "reviews");
  EXPECT_THAT(tokens(read_all(*cut), 0), ElementsAre(4, 5));
}

TEST_F(Prepared, TheTestPartIsTheFilesOrChosenByHash) {
  PreparedFile(options_.file)
      .version(1)
      .words({"a", "b"})
      .part("train", 1, {4, 5}, {1, 0})
      .part("test", 1, {5}, {1});
  EXPECT_EQ(open(Split::kTrain)->info().examples, 2U);
  EXPECT_THAT(tokens(read_all(*open(Split::kTest)), 0), ElementsAre(5));

  std::vector<std::uint16_t> ids(1000);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::uint16_t>(4 + i % 200);
  PreparedFile(options_.file)
      .version(1)
      .words(std::vector<std::string>(200, "word"))
      .part("train", 1, ids, std::vector<std::uint8_t>(ids.size(), 1));
  options_.test_share = 0.3;
  std::set<std::int32_t> train, test;
  const auto training = open(Split::kTrain);
  const auto testing = open(Split::kTest);
  EXPECT_EQ(training->info().examples + testing->info().examples, ids.size());
  const Batch learned = read_all(*training), tested = read_all(*testing);
  for (std::size_t i = 0; i < learned.size(); ++i) train.insert(tokens(learned, i)[0]);
  for (std::size_t i = 0; i < tested.size(); ++i) test.insert(tokens(tested, i)[0]);
  EXPECT_EQ(train.size() + test.size(), 200U);  // none is on both sides
  EXPECT_NEAR(static_cast<double>(test.size()), 60, 25);
}

TEST_F(Prepared, TestsMayBeAFileOfWords) {
  write_three();
  options_.test_file = folder_ / "tests.tsv";
  write_atomically(options_.test_file, "1\tGood, good Good\n0\tthe bad\n");
  const auto tests = open(Split::kTest);
  const Batch batch = read_all(*tests);
  EXPECT_THAT(tokens(batch, 0), ElementsAre(4, 4, 4));
  EXPECT_THAT(tokens(batch, 1), ElementsAre(Vocabulary::kUnknown, 5));
}

TEST_F(Prepared, StopWordsAreLeftOutOfTextsToo) {
  PreparedFile(options_.file)
      .version(1)
      .words({"good", "bad"})
      .stop_words({"the", "film"})
      .part("train", 2, {4, 5, 5, 0}, {1, 0});
  options_.length = 2;
  options_.test_file = folder_ / "tests.tsv";
  write_atomically(options_.test_file, "1\tThe film: the GOOD film, the bad\n");
  EXPECT_THAT(tokens(read_all(*open(Split::kTest)), 0), ElementsAre(4, 5));

  // As a run keeps them.
  const auto words = vocabularies_of(TextKind::kReviews, options_, 0);
  write_vocabularies(TextKind::kReviews, words, folder_.path());
  EXPECT_EQ(read_text(folder_ / "stop_words.txt"), "the\nfilm\n");
  const auto kept = read_vocabularies(TextKind::kReviews, folder_.path());
  write_atomically(folder_ / "lines.txt", "the bad the film\nthe\nother film\n");
  const auto lines = number_lines(TextKind::kReviews, options_, folder_ / "lines.txt", kept);
  const Batch batch = read_all(*lines);
  EXPECT_THAT(tokens(batch, 0), ElementsAre(5));
  EXPECT_THAT(tokens(batch, 1), ElementsAre());
  EXPECT_THAT(tokens(batch, 2), ElementsAre(Vocabulary::kUnknown));
  const auto tests =
      open_texts(TextKind::kReviews, options_, Split::kTest, 0, "reviews", folder_.path());
  EXPECT_THAT(tokens(read_all(*tests), 0), ElementsAre(4, 5));
}

TEST_F(Prepared, ARunWithoutStopWordsKeepsNone) {
  write_atomically(folder_ / "stop_words.txt", "good\n");
  write_three();
  const auto words = vocabularies_of(TextKind::kReviews, options_, 0);
  write_vocabularies(TextKind::kReviews, words, folder_.path());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "stop_words.txt"));
  const auto kept = read_vocabularies(TextKind::kReviews, folder_.path());
  EXPECT_EQ(kept[0].number("good"), 4);
  EXPECT_FALSE(kept[0].leaves_out("good"));
}

TEST_F(Prepared, WhatIsWrongIsNamed) {
  const auto error = [&] { return data_error_of([&] { open(Split::kTrain); }); };
  PreparedFile(options_.file).words({"a"});
  EXPECT_THAT(error(), HasSubstr("reviews.h5: an HDF5 file, but not of prepared reviews"));
  PreparedFile(options_.file).version(2);
  EXPECT_THAT(error(), HasSubstr("prepare it again"));
  PreparedFile(options_.file).version(1);
  EXPECT_THAT(error(), HasSubstr("it has no table 'vocabulary'"));
  PreparedFile(options_.file).version(1).words({"a"});
  EXPECT_THAT(error(), HasSubstr("it has no table 'train/ids'"));
  PreparedFile(options_.file).version(1).words({"a"}).part("train", 2, {4, 4}, {1, 0});
  EXPECT_THAT(error(), HasSubstr("as many labels as rows"));
  PreparedFile(options_.file).version(1).words({"a"}).part("train", 2, {4, 0, 4, 5}, {1, 0});
  EXPECT_THAT(error(), HasSubstr("row 1 of 'train/ids' has the number 5, and there are 1 words"));
  PreparedFile(options_.file).version(1).words({"a"}).part("train", 1, {4}, {7});
  EXPECT_THAT(error(), HasSubstr("label 0 of 'train' is 7"));
  PreparedFile(options_.file).version(1).words({"a"}).part("train", 3, {0, 0, 4}, {1});
  EXPECT_THAT(error(), HasSubstr("row 0 of 'train/ids' has words behind its padding"));
  write_three();
  options_.test_file = folder_ / "other.h5";
  PreparedFile(options_.test_file).version(1).words({"bad", "good"}).part("train", 1, {4}, {1});
  EXPECT_THAT(data_error_of([&] { open(Split::kTest); }), HasSubstr("number different words"));
  options_.test_file.clear();
  options_.vocabulary = 6;
  EXPECT_THAT(error(), HasSubstr("has 7 numbers for words: set --vocabulary"));
  std::string bytes = read_text(options_.file);
  write_atomically(options_.file, bytes.substr(0, bytes.size() / 2));
  EXPECT_THAT(error(), HasSubstr("cannot be opened"));
}

}  // namespace
}  // namespace paceline
