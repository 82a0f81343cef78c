#include "net/send_queue.h"

#include <gtest/gtest.h>

namespace paceline {
namespace {

const std::string kBytes(1000, 'x');

Payload bytes(std::size_t size) {
  return {std::as_bytes(std::span(kBytes)).first(size), nullptr};
}

std::string admit(SendQueue& queue) {
  std::unique_ptr<Message> message = queue.admit();
  if (!message) return "none";
  std::string meta = message->meta;
  queue.recycle(std::move(message));
  return meta;
}

TEST(SendQueue, LowestPriorityGoesFirstThenTheOldest) {
  SendQueue queue(1000);
  queue.push({}, "c", {}, 2);
  queue.push({}, "a", {}, -5);
  queue.push({}, "d", {}, 2);
  queue.push({}, "b", {}, 0);
  for (const char* expected : {"a", "b", "c", "d", "none"}) EXPECT_EQ(admit(queue), expected);
}

TEST(SendQueue, AdmitsExactlyTheWindow) {
  SendQueue queue(100);
  queue.push({}, "a", bytes(60), 0);
  queue.push({}, "b", bytes(40), 0);
  queue.push({}, "c", bytes(1), 0);
  EXPECT_EQ(admit(queue), "a");
  EXPECT_EQ(admit(queue), "b");
  EXPECT_EQ(admit(queue), "none");
  queue.credit(1);
  EXPECT_EQ(admit(queue), "c");
}

TEST(SendQueue, MessageThatMayNotGoHoldsBackThoseBehindIt) {
  SendQueue queue(100);
  queue.push({}, "a", bytes(60), 0);
  queue.push({}, "b", bytes(60), 0);
  queue.push({}, "c", bytes(1), 0);
  queue.push({}, "d", {}, 1);
  EXPECT_EQ(admit(queue), "a");
  EXPECT_EQ(admit(queue), "none");
  queue.push({}, "urgent", {}, -1);
  EXPECT_EQ(admit(queue), "urgent");
  queue.credit(60);
  for (const char* expected : {"b", "c", "d"}) EXPECT_EQ(admit(queue), expected);
}

TEST(SendQueue, MessageLargerThanTheWindowGoesAlone) {
  SendQueue queue(100);
  queue.push({}, "a", bytes(1), 0);
  queue.push({}, "big", bytes(500), 0);
  EXPECT_EQ(admit(queue), "a");
  EXPECT_EQ(admit(queue), "none");
  queue.credit(1);
  EXPECT_EQ(admit(queue), "big");
}

TEST(SendQueue, CreditForWhatWasNeverSentIsAFrameError) {
  SendQueue queue(100);
  queue.push({}, "a", bytes(60), 0);
  EXPECT_EQ(admit(queue), "a");
  EXPECT_THROW(queue.credit(61), FrameError);
}

TEST(SendQueue, RecyclingLetsThePayloadGoAndUsesTheEntryAgain) {
  SendQueue queue(100);
  auto owner = std::make_shared<int>(1);
  queue.push({}, "a", {bytes(1).bytes, owner}, 0);
  std::unique_ptr<Message> message = queue.admit();
  const Message* entry = message.get();
  EXPECT_EQ(owner.use_count(), 2);
  queue.recycle(std::move(message));
  EXPECT_EQ(owner.use_count(), 1);
  queue.push({}, "b", {}, 0);
  message = queue.admit();
  EXPECT_EQ(message.get(), entry);
  EXPECT_TRUE(message->payload.bytes.empty());
}

}  // namespace
}  // namespace paceline
