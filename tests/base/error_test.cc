#include "base/error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <new>
#include <stdexcept>
#include <type_traits>

namespace paceline {
namespace {

TEST(Error, KindsCarryTheirExitCodes) {
  EXPECT_EQ(Error("x").code(), ExitCode::kInternal);
  EXPECT_EQ(ConfigError("x").code(), ExitCode::kUsage);
  EXPECT_EQ(DataError("x").code(), ExitCode::kData);
  EXPECT_EQ(CommError("x").code(), ExitCode::kCommunication);
  EXPECT_EQ(ResourceError("x").code(), ExitCode::kResources);
  EXPECT_EQ(Interrupted("x").code(), ExitCode::kInterrupted);
}

TEST(Error, FormatsItsMessage) {
  EXPECT_STREQ(CommError("rank {} is silent for {} ms", 3, 250).what(),
               "rank 3 is silent for 250 ms");
}

TEST(Error, KeepsBracesOfAPlainMessage) {
  EXPECT_STREQ(Error("{not a placeholder}").what(), "{not a placeholder}");
}

TEST(Error, TellsItsCausesBehindItsSentence) {
  const DataError full("cannot write x: {}", "No space left on device");
  const CommError lost(full, "server{} is lost", 0);
  const Error failed(lost, "the run has failed", ExitCode::kDiverged);
  EXPECT_STREQ(failed.what(),
               "the run has failed: server0 is lost: cannot write x: No space left on device");
  EXPECT_EQ(failed.code(), ExitCode::kDiverged);
  ASSERT_EQ(failed.reasons().size(), 3U);
  EXPECT_EQ(failed.reasons()[1].sentence, "server0 is lost");
  EXPECT_EQ(failed.reasons()[1].code, ExitCode::kCommunication);
  EXPECT_EQ(failed.reasons()[2].code, ExitCode::kData);
}

TEST(Error, TellsARemarkAfterItsCauses) {
  CommError lost(Error("it was closed"), "server0 is lost");
  lost.add_remark("; its parameters are gone");
  EXPECT_STREQ(lost.what(), "server0 is lost: it was closed; its parameters are gone");
  Error failed(lost, "the run has failed", ExitCode::kInternal);
  failed.add_remark(". Go on");
  failed.add_remark(" with --resume");
  EXPECT_STREQ(failed.what(),
               "the run has failed: server0 is lost: it was closed; its parameters are gone. Go on "
               "with --resume");
}

TEST(Error, CopiesGoTheirOwnWays) {
  static_assert(std::is_nothrow_copy_constructible_v<DataError>);
  DataError one("one");
  const DataError before = one;
  one.add_remark(", two");
  EXPECT_STREQ(before.what(), "one");
  const DataError after = std::move(one);
  EXPECT_STREQ(one.what(), "one, two");  // NOLINT: nothing is moved
  EXPECT_STREQ(after.what(), "one, two");
}

TEST(Error, IsExplainedByWhoKnowsWhatHappenedToAMember) {
  CommError lost(Error(Error("reset by peer"), "the line has ended", ExitCode::kInternal),
                 "server0 is lost");
  lost.set_about("server0");
  lost.add_remark("; its parameters are gone");
  CommError failed(lost, "worker1 cannot go on");
  failed.explain("worker1", Error("it was stopped"));
  EXPECT_STREQ(failed.what(),
               "worker1 cannot go on: server0 is lost: the line has ended: reset by peer; its "
               "parameters are gone");
  failed.explain("server0", Error("it was killed"));
  EXPECT_STREQ(failed.what(),
               "worker1 cannot go on: server0 is lost: it was killed; its parameters are gone");
  EXPECT_EQ(failed.code(), ExitCode::kCommunication);
}

TEST(Error, ForgetsTheFirstOfTooManyCauses) {
  Error error("the first");
  for (int i = 0; i < 100; ++i) error = Error(error, std::to_string(i), ExitCode::kData);
  EXPECT_EQ(error.reasons().size(), Error::kMostReasons);
  EXPECT_STREQ(error.what(), "99: 98: 97: 96: 95: 94: 93: 92: 91: 90: 89: 88: 87: 86: 85: 84");
}

TEST(Error, CutsLongTextsBetweenCharacters) {
  std::string text;
  while (text.size() <= Error::kMostBytes) text += "ä";
  const Error error(text);
  EXPECT_EQ(error.what(), text.substr(0, Error::kMostBytes - 4) + "…");
  EXPECT_STREQ(Error(error.what()).what(), error.what());
}

std::string words_for(const std::function<void()>& work, ExitCode code) {
  try {
    work();
  } catch (...) {
    EXPECT_EQ(current_error().code(), code);
    return current_error().what();
  }
  return "nothing was thrown";
}

TEST(CurrentError, HasWordsForWhateverIsThrown) {
  EXPECT_EQ(words_for([] { throw CommError(Error("b"), "a"); }, ExitCode::kCommunication), "a: b");
  EXPECT_EQ(words_for([] { std::filesystem::rename("not/there", "x"); }, ExitCode::kData),
            "cannot use not/there: No such file or directory");
  EXPECT_EQ(words_for([] { throw std::bad_alloc(); }, ExitCode::kResources),
            "this machine has not enough memory left");
  EXPECT_EQ(words_for([] { throw std::out_of_range("12"); }, ExitCode::kInternal),
            "unexpected: 12");
}

TEST(ErrnoText, IsTheSystemsSentence) {
  EXPECT_EQ(errno_text(ENOSPC), "No space left on device");
}

TEST(Error, AFullDiskIsToldFromOtherFailuresToWrite) {
  EXPECT_THROW(throw_unwritable("x", ENOSPC), DiskFull);
  EXPECT_THROW(throw_unwritable("x", EDQUOT), DiskFull);
  try {
    throw_unwritable("x", EIO);
  } catch (const DiskFull&) {
    FAIL();
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "cannot write x: Input/output error");
  }
}

TEST(CheckDeathTest, NamesTheConditionAndEndsTheProcess) {
  const int three = 3;
  PACELINE_CHECK(three == 3);
  EXPECT_DEATH(PACELINE_CHECK(three == 4), "three == 4 does not hold at .*error_test.cc");
}

}  // namespace
}  // namespace paceline
