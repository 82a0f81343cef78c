#include "prepare/check_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/text.h"
#include "prepare/prepare_fixture.h"

namespace paceline {
namespace {

using testing::HasSubstr;

TEST_F(PrepareTest, AnInputIsNeverOverwritten) {
  options_.output = make("r.tsv", "5\tgood1\n");
  options_.inputs = {(dir_ / "." / "r.tsv").string()};
  EXPECT_THAT(refusal(), HasSubstr("one of the inputs"));
  EXPECT_EQ(read_text(options_.output), "5\tgood1\n");
  options_.output = dir_ / "nowhere" / "out.h5";
  EXPECT_THAT(refusal(), HasSubstr("there is no folder"));
  options_.output = dir_.path();
  EXPECT_THAT(refusal(), HasSubstr("is a folder"));
}

TEST_F(PrepareTest, AnOutputBehindALinkIsReplacedThere) {
  options_.output = dir_ / "link.h5";
  fs::create_symlink(make("target.h5", "what was there before"), options_.output);
  prepare({make("r.json", as_json(made_up(100)))});
  EXPECT_TRUE(fs::is_symlink(options_.output));
  EXPECT_EQ(read_text(dir_ / "target.h5").substr(1, 3), "HDF");
}

TEST_F(PrepareTest, AnOutputBehindALinkThatLeadsNowhereIsMadeThere) {
  options_.output = dir_ / "link.h5";
  fs::create_symlink("target.h5", options_.output);
  prepare({make("r.json", as_json(made_up(100)))});
  EXPECT_TRUE(fs::is_symlink(options_.output));
  EXPECT_TRUE(fs::is_regular_file(dir_ / "target.h5"));
}

TEST_F(PrepareTest, AnOutputThatIsNoFileIsLeftAlone) {
  options_.inputs = {make("r.json", as_json(made_up(100))).string()};
  options_.output = dir_ / "pipe";
  ASSERT_EQ(::mkfifo(options_.output.c_str(), 0600), 0);
  EXPECT_THAT(refusal(), HasSubstr("not a regular file"));
  EXPECT_TRUE(fs::is_fifo(options_.output));
  options_.format = PrepareFormat::kTsv;
  options_.output = "/dev/null";
  EXPECT_THAT(refusal(), HasSubstr("--work-dir"));
  options_.work_dir = dir_ / "work";
  EXPECT_EQ(prepare()["output_bytes"], 0);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(PrepareTest, NamesThatAreNotUtf8AreRefusedAtOnce) {
  const std::string input = make("caf\xE9.json", as_json(made_up(100))).string();
  options_.inputs = {input};
  EXPECT_THAT(refusal(), HasSubstr("is not UTF-8"));
  options_.inputs = {dir_.path().string()};
  EXPECT_THAT(refusal(), HasSubstr("is not UTF-8"));
  EXPECT_FALSE(fs::exists(dir_ / "out.h5.work"));
}

TEST_F(PrepareTest, AGivenVocabularyHasItsLimits) {
  options_.inputs = {make("r.json", as_json(made_up(100))).string()};
  options_.settings.words = {std::string(300, 'x')};
  EXPECT_THAT(refusal(), HasSubstr("more than 256 bytes"));
  options_.settings.words.clear();
  options_.settings.vocabulary = 1'000'000;
  options_.memory = 400'000'000;
  EXPECT_EQ(threads_for(options_, 8), 1U);
  options_.settings.vocabulary = 5'000'000;
  EXPECT_THAT(refusal(), HasSubstr("vocabulary"));
}

}  // namespace
}  // namespace paceline
