#include "base/large_pages.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace paceline {
namespace {

TEST(LargePages, HoldWhatOneWrites) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{100}, (std::size_t{5} << 20) + 3}) {
    Buffer buffer = large_page_buffer(bytes);
    ASSERT_EQ(buffer.size(), bytes);
    std::ranges::fill(buffer.bytes(), std::byte{7});
    EXPECT_TRUE(std::ranges::all_of(buffer.bytes(), [](std::byte b) { return b == std::byte{7}; }));
  }
}

}  // namespace
}  // namespace paceline
