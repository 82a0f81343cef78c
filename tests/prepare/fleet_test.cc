#include "prepare/fleet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "prepare/thread_fleet.h"

namespace paceline {
namespace {

using Json = nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

TEST(Fleet, EachHearsWhatAllHaveDone) {
  run_fleet(3, [](Fleet& fleet) {
    const auto all = do_together(fleet, [&]() -> Json { return 10 * fleet.rank(); });
    EXPECT_EQ(all, (std::vector<Json>{0, 10, 20}));
  });
  const auto fleet = lone_process();
  EXPECT_EQ(do_together(*fleet, [] { return Json("x"); }), std::vector<Json>{"x"});
}

// The words are the first one's to say: the others end without any.
TEST(Fleet, WhatFailsInOneFailsInAll) {
  for (const std::size_t failing : {0U, 2U}) {
    run_fleet(3, [&](Fleet& fleet) {
      try {
        do_together(fleet, [&]() -> Json {
          if (fleet.rank() == failing) throw DataError("the disk is full");
          if (fleet.rank() == 1) throw Interrupted("stopped");
          return {};
        });
        FAIL() << "nothing was thrown";
      } catch (const SharedError& error) {
        EXPECT_EQ(error.code(), ExitCode::kData);
        if (fleet.rank() == 0) {
          EXPECT_THAT(error.what(), AllOf(HasSubstr("of 3"), HasSubstr("the disk is full")));
        } else {
          EXPECT_STREQ(error.what(), "");
        }
      }
    });
  }
}

TEST(Fleet, AFailureReachesTheFirstWithItsCauses) {
  run_fleet(2, [](Fleet& fleet) {
    try {
      do_together(fleet, [&]() -> Json {
        if (fleet.rank() == 0) return {};
        throw DataError(Error("the disk is full"), "cannot write {}", "\xff.h5");  // any bytes
      });
      FAIL() << "nothing was thrown";
    } catch (const SharedError& error) {
      if (fleet.rank() != 0) return;
      ASSERT_EQ(error.reasons().size(), 3U);
      EXPECT_EQ(error.reasons()[0].sentence, "process 2 of 2 on a thread");
      EXPECT_EQ(error.reasons()[0].code, ExitCode::kData);
      EXPECT_EQ(error.reasons()[1].sentence, "cannot write \uFFFD.h5");
      EXPECT_EQ(error.reasons()[2].sentence, "the disk is full");
    }
  });
}

TEST(Fleet, OneProcessThrowsAsItDid) {
  const auto fleet = lone_process();
  EXPECT_THROW(do_together(*fleet, []() -> Json { throw DataError("x"); }), DataError);
}

}  // namespace
}  // namespace paceline
