#include "data/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/data_error.h"
#include "base/file/file.h"
#include "base/temp_dir.h"

namespace paceline {
namespace {

using testing::ElementsAre;
using testing::EndsWith;

constexpr std::int32_t kFirst = Vocabulary::kFirstWord;

class Texts : public testing::Test {
 protected:
  void write(const std::string& text) {
    options_.file = folder_ / "texts.tsv";
    write_atomically(options_.file, text);
  }
  void write_tests(const std::string& text) {
    options_.test_file = folder_ / "tests.tsv";
    write_atomically(options_.test_file, text);
  }
  std::unique_ptr<Dataset> open(TextKind kind, Split split = Split::kTrain,
                                std::uint64_t limit = 0) {
    return open_texts(kind, options_, split, limit, "texts");
  }
  Batch read_all(const Dataset& dataset) {
    std::vector<std::uint64_t> examples(dataset.info().examples);
    std::iota(examples.begin(), examples.end(), 0);
    Batch batch;
    dataset.read(examples, batch);
    return batch;
  }
  std::vector<std::int32_t> tokens(const Batch& batch, std::size_t row, std::size_t number = 0) {
    const auto sequence = sequence_of(batch.rows[row], number);
    return {sequence.begin(), sequence.end()};
  }

  TempDir folder_;
  TextOptions options_;
};

TEST_F(Texts, OfReviewsAreNumberedByFrequency) {
  write("1\tGood, good film\n0\tbad film film\n\n");
  write_tests("1\tgood book\n");
  const auto dataset = open(TextKind::kReviews);
  const Batch batch = read_all(*dataset);
  EXPECT_THAT(batch.labels, ElementsAre(1, 0));
  EXPECT_THAT(tokens(batch, 0), ElementsAre(kFirst + 1, kFirst + 1, kFirst));
  EXPECT_THAT(tokens(batch, 1), ElementsAre(kFirst + 2, kFirst, kFirst));
  EXPECT_EQ(batch.weight, 2);
  const auto tests = open(TextKind::kReviews, Split::kTest);
  EXPECT_THAT(tokens(read_all(*tests), 0), ElementsAre(kFirst + 1, Vocabulary::kUnknown));
  EXPECT_EQ(tests->info().text, (TextShape{1, options_.length, options_.vocabulary}));
}

TEST_F(Texts, OfSentencesAreTwoSequencesAndWeighTheirWords) {
  write("Go.\tVa !\nGo on.\tContinue.\n");
  write_tests("Go\tVa\n");
  const auto dataset = open(TextKind::kSentences);
  const Batch batch = read_all(*dataset);
  EXPECT_THAT(tokens(batch, 0, 0), ElementsAre(kFirst + 1, kFirst));
  EXPECT_THAT(tokens(batch, 1, 0), ElementsAre(kFirst + 1, kFirst + 2, kFirst));
  EXPECT_THAT(tokens(batch, 1, 1), ElementsAre(kFirst + 2, kFirst + 1));
  EXPECT_THAT(batch.weights, ElementsAre(3, 3));
  EXPECT_EQ(batch.weight, 6);
}

TEST_F(Texts, AreCutAtEitherEnd) {
  write("1\ta a a b b c\n");
  write_tests("1\ta\n");
  options_.length = 2;
  EXPECT_THAT(tokens(read_all(*open(TextKind::kReviews)), 0), ElementsAre(kFirst, kFirst));
  options_.cut = TextCut::kStart;
  EXPECT_THAT(tokens(read_all(*open(TextKind::kReviews)), 0), ElementsAre(kFirst + 1, kFirst + 2));
}

TEST_F(Texts, AreOnOneSideOfTheSplitOnly) {
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += "word" + std::to_string(i / 2) + "\tmot\n";
  write(lines);
  options_.test_share = 0.2;
  const auto train = open(TextKind::kSentences);
  const auto test = open(TextKind::kSentences, Split::kTest);
  EXPECT_EQ(train->info().examples + test->info().examples, 1000U);
  EXPECT_GT(test->info().examples, 120U);
  EXPECT_LT(test->info().examples, 280U);
  const Batch batch = read_all(*test);
  for (std::size_t row = 0; row < batch.size(); ++row) {
    EXPECT_THAT(tokens(batch, row), ElementsAre(Vocabulary::kUnknown));
  }
  for (const Split split : {Split::kTrain, Split::kTest}) {
    EXPECT_EQ(estimate_texts(TextKind::kSentences, options_, split, 0, "x").examples,
              open(TextKind::kSentences, split)->info().examples);
  }
  EXPECT_EQ(open(TextKind::kSentences, Split::kTrain, 10)->info().examples, 10U);
}

TEST_F(Texts, WeighTheSamePerLabelWhenBalanced) {
  write("1\ta\n1\tb\n1\tc\n0\td\n");
  write_tests("1\ta\n");
  options_.balanced = true;
  const Batch batch = read_all(*open(TextKind::kReviews));
  EXPECT_FLOAT_EQ(batch.weights[0] * 3, batch.weights[3]);
  EXPECT_FLOAT_EQ(static_cast<float>(batch.weight), 4);
  write("1\ta\n");
  EXPECT_EQ(data_error_of([&] { open(TextKind::kReviews); }), "texts has no example of label 0");
}

TEST_F(Texts, OfALimitAreASampleOfTheFile) {
  for (const bool sorted : {true, false}) {
    std::string lines;
    for (int i = 0; i < 900; ++i) {
      const bool good = sorted ? i < 450 : i % 2 == 0;
      lines += fmt::format("{}\ttext {}\n", good ? 1 : 0, i);
    }
    write(lines);
    write_tests("1\ta\n");
    const Batch some = read_all(*open(TextKind::kReviews, Split::kTrain, 90));
    ASSERT_EQ(some.labels.size(), 90U);
    EXPECT_NEAR(std::accumulate(some.labels.begin(), some.labels.end(), 0), 45, 15);
    EXPECT_EQ(open(TextKind::kReviews, Split::kTrain, 901)->info().examples, 900U);
    EXPECT_EQ(read_all(*open(TextKind::kReviews, Split::kTrain, 90)).labels, some.labels);
  }
}

TEST_F(Texts, OfLinesAloneAreAsManyAsTheLines) {
  const Vocabulary words({"good"});
  for (const auto& [text, lines] : std::vector<std::pair<std::string, std::uint64_t>>{
           {"", 0}, {"\n", 1}, {"good", 1}, {"good\n", 1}, {"\n\ngood\n\n", 4}}) {
    write_atomically(folder_ / "lines.txt", text);
    const auto dataset = number_lines(TextKind::kReviews, options_, folder_ / "lines.txt", {words});
    EXPECT_EQ(dataset->info().examples, lines) << text;
  }
}

TEST_F(Texts, RefuseLinesThatAreNone) {
  write_tests("1\ta\n");
  write("1\tgood\nwithout a label\n");
  EXPECT_THAT(data_error_of([&] { open(TextKind::kReviews); }),
              EndsWith("texts.tsv, line 2: expected LABEL<tab>TEXT"));
  write("1\tgood\n5\tvery good\n");
  EXPECT_THAT(data_error_of([&] { open(TextKind::kReviews); }),
              EndsWith("texts.tsv, line 2: the label is '5', and must be 0 or 1"));
  write("\n\n");
  EXPECT_THAT(data_error_of(
                  [&] { estimate_texts(TextKind::kReviews, options_, Split::kTrain, 0, "texts"); }),
              EndsWith("is empty, or no line of it is for this part"));
}

// A damaged list of words may be longer than the model's.
TEST_F(Texts, AreNotNumberedByAVocabularyThatTheModelDoesNotHave) {
  write("1\tgood\n0\tbad\n");
  write_tests("1\tgood\n");
  options_.vocabulary = kFirst + 2;
  write_vocabularies(TextKind::kReviews, {Vocabulary({"good", "bad"})}, folder_.path());
  const auto test = [&] {
    open_texts(TextKind::kReviews, options_, Split::kTest, 0, "texts", folder_.path());
  };
  EXPECT_NO_THROW(test());
  write_vocabularies(TextKind::kReviews, {Vocabulary({"good", "bad", "more"})}, folder_.path());
  EXPECT_THAT(data_error_of(test), testing::HasSubstr("has 3 words, and the model knows 6"));
  EXPECT_THROW(number_lines(TextKind::kReviews, options_, options_.file,
                            read_vocabularies(TextKind::kReviews, folder_.path())),
               DataError);
}

}  // namespace
}  // namespace paceline
