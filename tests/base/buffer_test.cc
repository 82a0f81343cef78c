#include "base/buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"

namespace paceline {
namespace {

TEST(Buffer, IsAlignedForEverySize) {
  for (const std::size_t size : {1, 3, 63, 64, 65, 1000, 4097}) {
    const Buffer buffer(size);
    EXPECT_EQ(buffer.size(), size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % kBufferAlignment, 0u) << size;
  }
}

TEST(Buffer, OfNoBytesHasNoMemory) {
  const Buffer buffer(0);
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_TRUE(buffer.bytes().empty());
  EXPECT_TRUE(Buffer::floats(0).as_floats().empty());
}

TEST(Buffer, ZerosAndFloatsStartAtZero) {
  { std::ranges::fill(Buffer(4096).bytes(), std::byte{0xff}); }
  const Buffer buffer = Buffer::floats(1024);
  ASSERT_EQ(buffer.as_floats().size(), 1024u);
  EXPECT_TRUE(std::ranges::all_of(buffer.as_floats(), [](float f) { return f == 0.0f; }));
}

TEST(Buffer, KeepsMemoryThatIsLargeEnough) {
  Buffer buffer(100);
  const std::byte* memory = buffer.data();
  buffer.resize(7);
  EXPECT_EQ(buffer.size(), 7U);
  buffer.resize(100);
  EXPECT_EQ(buffer.data(), memory);
  buffer.resize(101);
  EXPECT_EQ(buffer.size(), 101U);
  memory = buffer.data();
  buffer.resize(125);  // a quarter more was taken
  EXPECT_EQ(buffer.data(), memory);
  std::ranges::fill(buffer.bytes(), std::byte{1});
}

TEST(OwnBuffer, IsNeverOneThatSomebodyElseHolds) {
  std::shared_ptr<Buffer> buffer;
  const Buffer* first = &own_buffer(buffer, 10);
  EXPECT_EQ(&own_buffer(buffer, 5), first);
  EXPECT_EQ(buffer->size(), 5U);
  const std::shared_ptr<Buffer> held = buffer;
  EXPECT_NE(&own_buffer(buffer, 5), first);
  EXPECT_EQ(held.get(), first);
}

TEST(Buffer, IsEmptyAfterItWasMovedFrom) {
  Buffer first(100);
  const std::byte* memory = first.data();
  Buffer second = std::move(first);
  EXPECT_EQ(second.data(), memory);
  EXPECT_EQ(second.size(), 100u);
  EXPECT_EQ(first.size(), 0u);
  EXPECT_TRUE(first.bytes().empty());
  first = std::move(second);
  EXPECT_EQ(first.data(), memory);
  EXPECT_EQ(second.size(), 0u);
}

TEST(Buffer, OfMoreMemoryThanThereIsThrowsResourceError) {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  EXPECT_THROW(Buffer{kMost}, ResourceError);
  EXPECT_THROW(Buffer{kMost - 63}, ResourceError);
  EXPECT_THROW(Buffer{kMost / 2}, ResourceError);
}

}  // namespace
}  // namespace paceline
