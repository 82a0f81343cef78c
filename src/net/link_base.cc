#include "net/link_base.h"

#include <fmt/format.h>

#include <algorithm>
#include <asio/steady_timer.hpp>
#include <limits>
#include <utility>

#include "net/refuse.h"

namespace paceline {
namespace {

constexpr int kMostUrgent = std::numeric_limits<int>::min();
// A peer that does not take what close(flush) leaves it is given up after so long.
constexpr auto kFlushLimit = std::chrono::seconds(10);
constexpr std::size_t kSentenceBytes = 1000;

// A sentence from outside, fit for a log.
std::string printable(std::string_view text) {
  std::string result(text.substr(0, kSentenceBytes));
  std::replace_if(
      result.begin(), result.end(), [](char c) { return c >= 0 && (c < ' ' || c == '\x7f'); }, ' ');
  return result;
}

}  // namespace

// Waiting for it keeps a link alive that its users may have dropped.
struct LinkBase::FlushLimit {
  asio::steady_timer timer;
};

LinkBase::LinkBase(Loop& loop, std::string peer, const LinkOptions& options)
    : loop_(loop), peer_(std::move(peer)), options_(options), queue_(options.window) {}

void LinkBase::send(FrameHeader header, std::string_view meta, Payload payload, int priority) {
  if (!open()) return;
  header.run = options_.run;
  header.body_checksum.reset();
  header.meta_bytes = static_cast<std::uint32_t>(meta.size());
  header.payload_bytes = payload.bytes.size();
  queue_.push(header, meta, std::move(payload), priority);
  transmit();
}

void LinkBase::push_own(std::uint16_t type) {
  FrameHeader header;
  header.type = type;
  header.run = options_.run;
  queue_.push(header, {}, {}, kMostUrgent);
}

std::unique_ptr<Message> LinkBase::next_message() {
  std::unique_ptr<Message> message = queue_.admit();
  if (!message && !queue_.empty() && !asked_) {
    // The window is full. The peer returns credit by itself only when it owes half a
    // window; a message larger than the other half would wait for ever.
    asked_ = true;
    push_own(kAskCreditType);
    message = queue_.admit();
  }
  if (!message) return message;
  if (message->header.type == kCreditType) credit_queued_ = false;
  message->header.credit = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(owed_, std::numeric_limits<std::uint32_t>::max()));
  owed_ -= message->header.credit;
  if (options_.checksums.value_or(false)) add_checksum(*message);
  encode(message->header, message->encoded);
  return message;
}

// A Refused frame is one that every release can read: it has none.
void LinkBase::add_checksum(Message& message) {
  const bool has_body = !message.meta.empty() || !message.payload.bytes.empty();
  if (!has_body || message.header.type == kRefusedType) return;
  checksum_.start();
  checksum_.add(std::as_bytes(std::span(message.meta)));
  checksum_.add(message.payload.bytes);
  message.header.body_checksum = checksum_.value();
}

void LinkBase::check(const FrameHeader& header) {
  const bool refused = header.type == kRefusedType;
  if (header.run != options_.run && !refused) {
    throw Refusal(fmt::format("this is run {:016x}, the peer belongs to run {:016x}", options_.run,
                              header.run));
  }
  if (header.type == 0 || (header.type > kAskCreditType && header.type < kFirstApplicationType)) {
    throw FrameError(fmt::format("malformed frame: unknown type {}", header.type));
  }
  const bool own = refused || header.type == kCreditType || header.type == kAskCreditType;
  if (own && header.payload_bytes > 0) {
    throw FrameError(fmt::format("malformed frame: type {} has no payload", header.type));
  }
  if (header.credit > 0 && !refused) {
    queue_.credit(header.credit);
    asked_ = false;
    transmit();
  }
}

bool LinkBase::handle_own(const FrameHeader& header, std::string_view meta) {
  switch (header.type) {
    case kRefusedType:
      throw FrameError("refused by the peer: " + printable(meta));
    case kAskCreditType:
      push_credit();
      return true;
    case kCreditType:
      return true;
    default:
      return false;
  }
}

std::span<std::byte> LinkBase::place(const FrameHeader& header, std::string_view meta) {
  const std::span<std::byte> place = handler_->place(*this, header, meta);
  if (open() && place.size() != header.payload_bytes) {
    throw FrameError(fmt::format("the payload of a frame of type {} has {} bytes, its place {}",
                                 header.type, header.payload_bytes, place.size()));
  }
  return place;
}

void LinkBase::deliver(const FrameHeader& header, std::string_view meta,
                       std::span<std::byte> payload) {
  handler_->received(*this, header, meta, payload);
  consumed(payload.size());
}

void LinkBase::consumed(std::uint64_t payload_bytes) {
  owed_ += payload_bytes;
  if (owed_ > options_.window / 2) push_credit();
}

// At most one waits in the queue, however often the peer asks and does not read.
void LinkBase::push_credit() {
  if (state_ == State::kClosed || credit_queued_) return;
  credit_queued_ = true;
  push_own(kCreditType);
  transmit();
}

void LinkBase::fail(const std::exception& error) {
  if (dynamic_cast<const Refusal*>(&error) != nullptr && open()) {
    queue_.clear();
    refuse(*this, error.what());
  } else {
    shut(error.what());
  }
}

void LinkBase::close(const std::string& reason, bool flush) {
  if (!flush) {
    shut(reason);
  } else if (open()) {
    state_ = State::kFlushing;
    reason_ = reason;
    limit_flushing();
    transmit();
  }
}

void LinkBase::limit_flushing() {
  asio::steady_timer timer(loop_.context(), kFlushLimit);
  auto limit = std::make_shared<FlushLimit>(FlushLimit{std::move(timer)});
  flush_limit_ = limit;
  limit->timer.async_wait([limit, self = shared_from_this()](const asio::error_code& error) {
    if (!error) self->shut({});
  });
}

void LinkBase::shut(const std::string& reason) {
  if (state_ == State::kClosed) return;
  if (state_ == State::kOpen) reason_ = reason;
  state_ = State::kClosed;
  const auto self = shared_from_this();  // letting a payload go may drop the link
  if (auto limit = flush_limit_.lock()) limit->timer.cancel();
  queue_.clear();
  release();
  loop_.post([weak = weak_from_this()] {
    const auto link = weak.lock();
    if (link && link->handler_ != nullptr) link->handler_->closed(*link, link->reason_);
  });
}

LinkCounters LinkBase::counters() const {
  return {bytes_in_.load(std::memory_order_relaxed), bytes_out_.load(std::memory_order_relaxed)};
}

}  // namespace paceline
