#include "net/send_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace paceline {
namespace {

constexpr std::size_t kSpareMessages = 64;
constexpr std::size_t kSpareMetaBytes = 4096;  // a rare giant is not kept for ever

bool goes_later(const std::unique_ptr<Message>& a, const std::unique_ptr<Message>& b) {
  return std::pair(a->priority, a->order) > std::pair(b->priority, b->order);
}

}  // namespace

void SendQueue::push(const FrameHeader& header, std::string_view meta, Payload payload,
                     int priority) {
  std::unique_ptr<Message> message;
  if (spare_.empty()) {
    message = std::make_unique<Message>();
  } else {
    message = std::move(spare_.back());
    spare_.pop_back();
  }
  message->header = header;
  message->meta = meta;
  message->payload = std::move(payload);
  message->priority = priority;
  message->order = pushed_++;
  heap_.push_back(std::move(message));
  std::push_heap(heap_.begin(), heap_.end(), goes_later);
}

std::unique_ptr<Message> SendQueue::admit() {
  if (heap_.empty()) return nullptr;
  const std::uint64_t bytes = heap_.front()->payload.bytes.size();
  if (bytes > 0 && under_way_ > 0 && under_way_ + bytes > window_) return nullptr;
  under_way_ += bytes;
  std::pop_heap(heap_.begin(), heap_.end(), goes_later);
  std::unique_ptr<Message> message = std::move(heap_.back());
  heap_.pop_back();
  return message;
}

void SendQueue::recycle(std::unique_ptr<Message> message) {
  message->payload = {};
  if (spare_.size() < kSpareMessages && message->meta.capacity() <= kSpareMetaBytes) {
    spare_.push_back(std::move(message));
  }
}

void SendQueue::credit(std::uint64_t bytes) {
  if (bytes > under_way_) {
    throw FrameError(fmt::format("the peer returned credit for {} bytes when {} were under way",
                                 bytes, under_way_));
  }
  under_way_ -= bytes;
}

}  // namespace paceline
