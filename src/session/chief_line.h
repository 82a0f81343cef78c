// A member's line to the chief: registers, beats, hears, says goodbye.
//
// Lives in the thread that runs its loop: the server's own, or a thread beside the one
// that computes. tell() may be called from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "net/link.h"
#include "net/loop.h"
#include "session/identity.h"
#include "session/message.h"

namespace paceline {

struct ChiefLineOptions {
  std::string chief;  // address
  Identity self;
  std::string address;  // where a server listens; empty for others
  Duration heartbeat = std::chrono::milliseconds(500);
  Duration deadline = std::chrono::seconds(30);  // to register
  Duration silence = std::chrono::seconds(10);   // after which the chief counts as gone
  int failure_fd = -1;  // of this process: where it says why it ends; −1: nowhere
};

class ChiefLine final : private LinkHandler {
 public:
  struct Events {
    std::function<void(wire::Type, std::string_view)> told;
    std::function<void(const std::string& reason)> lost;  // not after goodbye()
    std::function<wire::Heartbeat()> beat;                // the figures of this moment
  };
  // Connects and registers; returns when the chief has answered. Throws CommError. No event
  // comes before start().
  ChiefLine(Loop& loop, const ChiefLineOptions& options, Events events);
  void start();
  ~ChiefLine() override;

  std::uint32_t incarnation() const { return incarnation_; }
  std::uint32_t rank() const { return rank_; }

  void tell(ChiefWord word);
  void beat();  // now, besides the regular ones
  // The last word, with the reason of who leaves before its time; the line is closed once it is
  // out.
  void goodbye(const std::optional<Error>& failure = std::nullopt);
  bool closed() const { return closed_; }

 private:
  std::span<std::byte> place(Link& link, const FrameHeader& header, std::string_view meta) override;
  void received(Link& link, const FrameHeader& header, std::string_view meta,
                std::span<std::byte> payload) override;
  void closed(Link& link, const std::string& reason) override;
  void send(wire::Type type, const std::string& meta);
  void look_after_chief();

  Loop& loop_;
  ChiefLineOptions options_;
  Events events_;
  std::shared_ptr<Link> link_;
  Loop::Token beats_;
  TimePoint heard_;
  TimePoint looked_;
  std::uint32_t incarnation_ = 0;
  std::uint32_t rank_ = 0;
  bool started_ = false;
  std::vector<ChiefWord> early_;  // arrived before start()
  bool closed_ = false;
  bool leaving_ = false;
  std::string refusal_;
};

}  // namespace paceline
