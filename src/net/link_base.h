// What the links over sockets and in memory share: the queue and its credit, the rules of
// incoming frames, the handler, and the end. A kind of link adds the wire.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "net/body_checksum.h"
#include "net/link.h"
#include "net/loop.h"
#include "net/send_queue.h"

namespace paceline {

class LinkBase : public Link, public std::enable_shared_from_this<LinkBase> {
 public:
  void send(FrameHeader header, std::string_view meta, Payload payload, int priority) final;
  void close(const std::string& reason, bool flush) final;
  bool open() const final { return state_ == State::kOpen; }
  const std::string& peer() const final { return peer_; }
  LinkCounters counters() const final;

 protected:
  enum class State {
    kOpen,
    kFlushing,  // closed to the handler, but what is queued still goes out
    kClosed,
  };

  LinkBase(Loop& loop, std::string peer, const LinkOptions& options);

  // The wire. transmit() sends next_message() until there is none or the wire is full; when
  // flushing is over, it tells the peer that nothing follows. release() lets go of everything.
  virtual void transmit() = 0;
  virtual void release() = 0;

  // The next message that may go, its header encoded; null if there is none now.
  std::unique_ptr<Message> next_message();
  SendQueue& queue() { return queue_; }

  // The steps of an incoming frame, each may throw: then call fail() with the exception.
  void check(const FrameHeader& header);  // and takes its credit
  // Whether a frame concerns only the link itself; it has then been dealt with.
  bool handle_own(const FrameHeader& header, std::string_view meta);
  std::span<std::byte> place(const FrameHeader& header, std::string_view meta);
  void deliver(const FrameHeader& header, std::string_view meta, std::span<std::byte> payload);
  void consumed(std::uint64_t payload_bytes);  // owes credit for them
  void fail(const std::exception& error);

  void count_in(std::size_t bytes) { count(bytes_in_, bytes); }
  void count_out(std::size_t bytes) { count(bytes_out_, bytes); }
  void set_handler(LinkHandler* handler) { handler_ = handler; }
  Loop& loop() { return loop_; }
  State state() const { return state_; }
  // The end, for `reason` unless close() gave one before. closed() follows from the loop.
  void shut(const std::string& reason);

 private:
  static void count(std::atomic<std::uint64_t>& counter, std::size_t bytes) {
    // Only the loop's thread writes.
    counter.store(counter.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }
  void push_own(std::uint16_t type);
  void add_checksum(Message& message);
  void push_credit();
  void limit_flushing();

  Loop& loop_;
  LinkHandler* handler_ = nullptr;
  const std::string peer_;
  const LinkOptions options_;
  State state_ = State::kOpen;
  std::string reason_;
  struct FlushLimit;
  std::weak_ptr<FlushLimit> flush_limit_;

  SendQueue queue_;
  BodyChecksum checksum_;
  std::uint64_t owed_ = 0;  // payload bytes consumed, not yet told to the peer
  bool credit_queued_ = false;
  bool asked_ = false;  // for credit, since the last that came

  std::atomic<std::uint64_t> bytes_in_{0};
  std::atomic<std::uint64_t> bytes_out_{0};
};

}  // namespace paceline
