// `paceline prepare reviews` as a user runs it, stops it and kills it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "base/file.h"
#include "base/random.h"
#include "base/temp_dir.h"
#include "system/paceline_process.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class PrepareRun : public testing::Test {
 protected:
  // About 10 MB.
  PrepareRun() {
    Random random(6);
    std::string text;
    for (int i = 0; i < 40'000; ++i) {
      text += fmt::format("{{\"overall\": {}, \"reviewText\": \"", 1 + random.below(5));
      for (std::uint64_t words = 5 + random.below(40); words > 0; --words) {
        text += fmt::format("word{} ", random.below(1 + random.below(3000)));
      }
      text += "\"}\n";
    }
    write_atomically(dir_ / "reviews.json", text);
  }
  std::vector<std::string> command(const std::string& output) const {
    return {"prepare",  "reviews",         dir_.file("reviews.json"),
            "--output", dir_.file(output), "--test-share",
            "0.1",      "--threads",       "2"};
  }
  Result run(const std::string& output) { return paceline(dir_.path(), command(output)); }

  TempDir dir_;
};

TEST_F(PrepareRun, EndsWithASummary) {
  const Result result = run("out.h5");
  ASSERT_EQ(result.code, 0) << result.output;
  EXPECT_THAT(result.output, AllOf(HasSubstr("40,000"), HasSubstr("train"), HasSubstr("test"),
                                   HasSubstr("vocabulary"), HasSubstr("words of a review")));
}

// Wherever it is killed, the same command ends as if it had not been, and until then there is no
// output.
TEST_F(PrepareRun, ThatIsKilledGoesOn) {
  ASSERT_EQ(run("whole.h5").code, 0);
  const fs::path work = dir_ / "out.h5.work";
  for (const char* done : {"read-000000.json", "group-000.json", "words.json"}) {
    PacelineProcess process(dir_.path(), command("out.h5"));
    eventually(20, [&] { return fs::exists(work / done) || fs::exists(dir_ / "out.h5"); });
    process.signal(SIGKILL);
    process.wait();
    if (fs::exists(dir_ / "out.h5")) break;
  }
  ASSERT_EQ(run("out.h5").code, 0);
  EXPECT_EQ(read_text(dir_ / "out.h5"), read_text(dir_ / "whole.h5"));
  EXPECT_FALSE(fs::exists(work));
}

TEST_F(PrepareRun, ThatIsInterruptedSaysHowToGoOn) {
  PacelineProcess process(dir_.path(), command("out.h5"));
  ASSERT_TRUE(eventually(20, [&] { return fs::exists(dir_ / "out.h5.work" / "manifest.json"); }));
  process.signal(SIGINT);
  const int code = process.wait();
  if (code != 0) {  // it may have been faster
    EXPECT_EQ(code, 130);
    EXPECT_THAT(process.output(), HasSubstr("the same command goes on"));
    EXPECT_FALSE(fs::exists(dir_ / "out.h5"));
  }
}

TEST_F(PrepareRun, WithoutInputOrRoomSaysSo) {
  const auto refused = [&](std::vector<std::string> words, int code, const char* says) {
    words.insert(words.begin(), {"prepare", "reviews"});
    const Result result = paceline(dir_.path(), words);
    EXPECT_EQ(result.code, code) << result.output;
    EXPECT_THAT(result.output, HasSubstr(says));
  };
  const std::string input = dir_.file("reviews.json");
  refused({"nothing.json", "--output", dir_.file("x.h5")}, 3, "nothing.json");
  refused({input}, 2, "--output");
  refused({input, "--output", dir_.file("x.h5"), "--cut", "middle"}, 2, "--cut");
  refused({input, "--output", dir_.file("x.h5"), "--memory", "10M"}, 2, "--memory");
  refused({input, "--output", "/dev/null/x.h5"}, 3, "/dev/null/x.h5");
  refused({input, "--output", dir_.file("x.h5"), "--stop-words", "missing"}, 3, "missing");
}

}  // namespace
}  // namespace paceline
