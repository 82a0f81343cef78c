#include "base/error.h"

#include <gtest/gtest.h>

#include <cerrno>

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
