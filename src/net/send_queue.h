// Messages that wait to be sent: most urgent first, oldest first among equals, and no
// more payload bytes under way than the window allows. Entries are used again, so that a
// steady stream of messages allocates nothing. For one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/link.h"

namespace paceline {

struct Message {
  FrameHeader header;
  std::array<std::byte, kHeaderBytes> encoded{};
  std::string meta;
  Payload payload;
  int priority = 0;
  std::uint64_t order = 0;

  std::size_t size() const { return encoded.size() + meta.size() + payload.bytes.size(); }
};

class SendQueue {
 public:
  explicit SendQueue(std::uint64_t window) : window_(window) {}

  void push(const FrameHeader& header, std::string_view meta, Payload payload, int priority);
  // Takes the most urgent message out, if the window admits it: it then counts as under
  // way. A message larger than the window goes when nothing else is under way. A message
  // that may not go holds back all behind it, or small ones would starve it.
  std::unique_ptr<Message> admit();
  // Gives back an admitted message that has been sent; its payload is let go.
  void recycle(std::unique_ptr<Message> message);
  // The peer has consumed this much. Throws FrameError if that was never sent.
  void credit(std::uint64_t bytes);

  bool empty() const { return heap_.empty(); }
  void clear() { heap_.clear(); }

 private:
  std::uint64_t window_;
  std::uint64_t under_way_ = 0;
  std::uint64_t pushed_ = 0;
  std::vector<std::unique_ptr<Message>> heap_;
  std::vector<std::unique_ptr<Message>> spare_;
};

}  // namespace paceline
