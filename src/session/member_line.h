// One member's line, from the chief's side: the greeting, and what is known of the member. That
// stays when the member is gone; its link, with the buffers, does not.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "net/link.h"
#include "session/protocol.pb.h"

namespace paceline {

class MemberLine final : public LinkHandler {
 public:
  struct Events {
    std::function<void(MemberLine&, const wire::Register&)> entered;  // sets the incarnation
    std::function<void(MemberLine&, wire::Type, std::string_view meta)> told;
    std::function<void(MemberLine&, const Error& cause)> closed;
  };
  // `events` outlives the line.
  MemberLine(std::shared_ptr<Link> link, std::string digest, const Events& events)
      : link_(std::move(link)), peer_(link_->peer()), digest_(std::move(digest)), events_(events) {}

  Link& link() { return *link_; }  // while it is open()
  bool open() const { return link_ && link_->open(); }
  void send(const FrameHeader& header, std::string_view meta);  // closed: does nothing
  void close(const std::string& reason);
  // Turns away who has not registered `patience` after connecting: such lines would stay for ever.
  void expect_registered(TimePoint now, Duration patience);
  const std::string& peer() const { return peer_; }
  LinkCounters counters() const { return link_ ? link_->counters() : counted_; }

  std::uint32_t incarnation = 0;  // 0: not registered
  wire::Register who;
  TimePoint opened = Clock::now();
  TimePoint heard;
  wire::Heartbeat figures;               // as of the last heartbeat
  std::optional<wire::Goodbye> goodbye;  // its last word
  double finished = 0;                   // seconds into the run

 private:
  std::span<std::byte> place(Link& link, const FrameHeader& header, std::string_view meta) override;
  void received(Link& link, const FrameHeader& header, std::string_view meta,
                std::span<std::byte> payload) override;
  void closed(Link& link, const std::string& reason) override;

  std::shared_ptr<Link> link_;  // null: it is closed
  LinkCounters counted_;        // then
  std::string peer_;
  std::string digest_;  // of the configuration that all roles share
  const Events& events_;
  bool greeted_ = false;
};

}  // namespace paceline
