#include "train/patience.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace paceline {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

class PatienceTest : public ::testing::Test {
 protected:
  PatienceTest() {
    patience_.pause = std::chrono::milliseconds(1);
    patience_.refused = [this] { return refused_; };
    patience_.say = [this](const std::string& sentence) { said_.push_back(sentence); };
  }
  // Fails so often before it succeeds.
  void write(int failures) {
    write_patiently(
        [&] {
          if (++tries_ <= failures) throw DiskFull("cannot write x: No space left on device");
        },
        patience_);
  }

  Patience patience_;
  bool refused_ = false;
  int tries_ = 0;
  std::vector<std::string> said_;
};

TEST_F(PatienceTest, HasNothingToSayWhenThereIsRoom) {
  write(0);
  EXPECT_EQ(tries_, 1);
  EXPECT_THAT(said_, SizeIs(0));
}

TEST_F(PatienceTest, TriesUntilThereIsRoomAndSaysSoOnce) {
  write(5);
  EXPECT_EQ(tries_, 6);
  ASSERT_THAT(said_, SizeIs(1));
  EXPECT_THAT(said_[0], AllOf(HasSubstr("cannot write x: No space left"), HasSubstr("in memory"),
                              HasSubstr("make room"), HasSubstr("tried again for 5 min")));
}

TEST_F(PatienceTest, EndsAfterAWhileWhenNobodyIsThere) {
  patience_.limit = std::chrono::milliseconds(3);
  try {
    write(1'000'000);
    FAIL();
  } catch (const DiskFull& full) {
    EXPECT_THAT(full.what(), AllOf(HasSubstr("cannot write x"), HasSubstr("no room was made in")));
    EXPECT_EQ(full.code(), ExitCode::kData);
  }
}

TEST_F(PatienceTest, OnATerminalOnlyTheUserEndsIt) {
  patience_.limit = Duration::zero();
  patience_.endless = true;
  patience_.refused = [this] { return tries_ >= 4; };
  EXPECT_THROW(write(1'000'000), DiskFull);
  EXPECT_EQ(tries_, 4);
  EXPECT_THAT(said_[0], HasSubstr("Ctrl-C gives it up"));
}

TEST_F(PatienceTest, OtherFailuresAreNotWaitedFor) {
  EXPECT_THROW(write_patiently([] { throw DataError("a damaged disk"); }, patience_), DataError);
  EXPECT_THAT(said_, SizeIs(0));
}

}  // namespace
}  // namespace paceline
