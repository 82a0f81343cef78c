// Two ends of a link in one loop, over each kind of wire, and handlers that remember.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/temp_dir.h"
#include "net/memory_link.h"
#include "net/socket.h"

namespace paceline {

inline FrameHeader application_header(std::uint16_t number = 0) {
  FrameHeader header;
  header.type = static_cast<std::uint16_t>(kFirstApplicationType + number);
  return header;
}

// A payload that owns its bytes.
inline Payload payload_of(std::string text) {
  auto owner = std::make_shared<const std::string>(std::move(text));
  return {std::as_bytes(std::span(*owner)), owner};
}

inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Recorder : LinkHandler {
  struct Message {
    FrameHeader header;
    std::string meta;
    std::string payload;
  };

  std::span<std::byte> place(Link& at, const FrameHeader& header, std::string_view) override {
    ++placed;
    if (on_place) on_place(at);
    memory.resize(header.payload_bytes - place_too_small);
    return std::as_writable_bytes(std::span(memory));
  }
  void received(Link& at, const FrameHeader& header, std::string_view meta,
                std::span<std::byte> payload) override {
    messages.push_back({header, std::string(meta), text_of(payload)});
    if (on_received) on_received(at);
  }
  void closed(Link&, const std::string& reason) override {
    reasons.push_back(reason);
    link.reset();
  }

  std::vector<std::string> payloads() const {
    std::vector<std::string> all;
    for (const Message& message : messages) all.push_back(message.payload);
    return all;
  }

  std::shared_ptr<Link> link;
  std::vector<Message> messages;
  std::vector<std::string> reasons;
  std::string memory;
  int placed = 0;
  std::size_t place_too_small = 0;
  std::function<void(Link&)> on_place;
  std::function<void(Link&)> on_received;
};

enum class Wire { kUnix, kTcp, kMemory };

inline std::string wire_name(const testing::TestParamInfo<Wire>& info) {
  constexpr const char* kNames[] = {"Unix", "Tcp", "Memory"};
  return kNames[static_cast<int>(info.param)];
}

// Members are destroyed in reverse: links before handlers, everything before the loop.
class LinkTest : public testing::TestWithParam<Wire> {
 protected:
  void join(const LinkOptions& options = {}) { join(options, options); }

  void join(const LinkOptions& left_options, const LinkOptions& right_options) {
    if (GetParam() == Wire::kMemory) {
      std::tie(left.link, right.link) =
          connect_in_memory({&loop, &left, "right"}, {&loop, &right, "left"}, right_options);
      return;
    }
    const std::string path = "unix:" + directory.file("link.sock");
    const Address address = Address::parse(GetParam() == Wire::kUnix ? path : "tcp:127.0.0.1:0");
    listener.emplace(loop, address, right_options, [this](std::shared_ptr<Link> link) {
      right.link = std::move(link);
      return &right;
    });
    left.link = connect(loop, listener->address(), left_options, left, soon());
    ASSERT_TRUE(wait([this] { return right.link != nullptr; }));
  }

  static TimePoint soon() { return Clock::now() + std::chrono::seconds(20); }
  bool wait(const std::function<bool()>& done) { return loop.run_until(done, soon()); }
  bool wait_for_messages(std::size_t count) {
    return wait([&] { return right.messages.size() >= count; });
  }
  bool wait_for_both_closed() {
    return wait([this] { return !left.reasons.empty() && !right.reasons.empty(); });
  }
  // Lets everything happen that is going to: nothing is left to do for a while.
  void settle() {
    loop.run_until([] { return false; }, Clock::now() + std::chrono::milliseconds(20));
  }

  TempDir directory;
  Loop loop;
  Recorder left;   // the connecting side
  Recorder right;  // the accepting side
  std::optional<Listener> listener;
};

}  // namespace paceline
