#include "data/sha256.h"

#include <gtest/gtest.h>

#include <string>

namespace paceline {
namespace {

// The examples of FIPS 180-2.
TEST(Sha256, MatchesTheStandardsExamples) {
  EXPECT_EQ(Sha256().hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  Sha256 sum;
  const std::string text = "abc";
  sum.add(std::as_bytes(std::span(text)));
  EXPECT_EQ(sum.hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, DoesNotDependOnThePieces) {
  const std::string million(1'000'000, 'a');
  const auto bytes = std::as_bytes(std::span(million));
  Sha256 sum;
  sum.add(bytes.first(1));
  sum.add(bytes.subspan(1, 0));
  sum.add(bytes.subspan(1, 99'999));
  sum.add(bytes.subspan(100'000));
  EXPECT_EQ(sum.hex(), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

}  // namespace
}  // namespace paceline
