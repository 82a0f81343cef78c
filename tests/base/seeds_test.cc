#include "base/seeds.h"

#include <gtest/gtest.h>

namespace paceline {
namespace {

TEST(SeedsOfTests, PartsAreDisjointAndTogetherAll) {
  for (const std::uint64_t count : {1U, 2U, 3U, 100U, 2000U}) {
    std::uint64_t next = 1;
    for (const char* part : {"1/3", "2/3", "3/3"}) {
      const Seeds some = seeds(count, part);
      EXPECT_EQ(some.first, next) << part;
      next = some.last + 1;
    }
    EXPECT_EQ(next, count + 1);
  }
}

TEST(SeedsOfTests, WithoutAPartAllAreTaken) {
  const Seeds all = seeds(2000, nullptr);
  EXPECT_EQ(all.first, 1U);
  EXPECT_EQ(all.last, 2000U);
  EXPECT_EQ(all.share_of(100), 100U);
  EXPECT_EQ(seeds(2000, "3/3").share_of(100), 33U);
}

TEST(SeedsOfTests, WhatIsNoPartIsRefused) {
  for (const char* part : {"", "1", "0/3", "4/3", "1/", "a/b", "1/3x", "1/0"}) {
    EXPECT_THROW(seeds(10, part), std::invalid_argument) << part;
  }
}

}  // namespace
}  // namespace paceline
