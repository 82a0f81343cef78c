#include "net/socket_link.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace paceline {
namespace {

// Enough to make a system call worth its price, little enough that an urgent message
// soon overtakes.
constexpr std::size_t kGatheredBytes = std::size_t{128} << 10;

std::string lost(int error) {
  return "the connection was lost: " + errno_text(error);
}

}  // namespace

SocketLink::SocketLink(Loop& loop, std::unique_ptr<ByteStream> stream, std::string peer,
                       const LinkOptions& options)
    : LinkBase(loop, std::move(peer), options),
      stream_(std::move(stream)),
      reader_(options.limits) {}

SocketLink::~SocketLink() {
  loop().unwatch(*this);
}

void SocketLink::start(LinkHandler& handler) {
  set_handler(&handler);
  if (state() != State::kClosed) loop().watch(*this);
}

std::weak_ptr<StreamUser> SocketLink::as_user() {
  return std::shared_ptr<StreamUser>(shared_from_this(), this);
}

void SocketLink::release() {
  loop().unwatch(*this);
  wire_.clear();
  stream_->close();
}

// ---- Sending. Messages move from the queue to the wire as late as possible: what is on
// the wire can no longer be overtaken.

void SocketLink::transmit() {
  // The owner of a payload, let go below, may send the next message or drop the link.
  if (transmitting_ || blocked_ || failed_ || ended_) return;
  const auto self = shared_from_this();
  transmitting_ = true;
  while (state() != State::kClosed && write_wire()) {
  }
  transmitting_ = false;
  const bool all_sent = queue().empty() && wire_.empty();
  if (state() == State::kFlushing && all_sent) finish_flushing();
}

// One system call; returns whether another may get further.
bool SocketLink::write_wire() {
  gather();
  if (wire_.empty()) return false;
  const std::size_t asked = wire_bytes_;
  const Transfer transfer = stream_->write(describe_wire());
  if (transfer.error != 0) {
    write_failed(transfer.error);
    return false;
  }
  sent(transfer.bytes);
  if (transfer.bytes == asked || state() == State::kClosed) return true;
  blocked_ = true;
  return false;
}

void SocketLink::gather() {
  while (wire_.size() < kGatheredMessages && wire_bytes_ < kGatheredBytes) {
    std::unique_ptr<Message> message = next_message();
    if (!message) return;
    wire_bytes_ += message->size();
    wire_.push_back(std::move(message));
  }
}

std::span<const iovec> SocketLink::describe_wire() {
  std::size_t skip = front_sent_;
  std::size_t count = 0;
  const auto add = [&](const void* data, std::size_t size) {
    const std::size_t skipped = std::min(skip, size);
    skip -= skipped;
    if (skipped == size) return;
    auto* begin = static_cast<std::byte*>(const_cast<void*>(data)) + skipped;
    pieces_[count++] = {begin, size - skipped};
  };
  for (const auto& message : wire_) {
    add(message->encoded.data(), message->encoded.size());
    add(message->meta.data(), message->meta.size());
    add(message->payload.bytes.data(), message->payload.bytes.size());
  }
  return {pieces_.data(), count};
}

void SocketLink::sent(std::size_t bytes) {
  count_out(bytes);
  wire_bytes_ -= bytes;
  front_sent_ += bytes;
  while (!wire_.empty() && front_sent_ >= wire_.front()->size()) {
    front_sent_ -= wire_.front()->size();
    std::unique_ptr<Message> message = std::move(wire_.front());
    wire_.erase(wire_.begin());
    queue().recycle(std::move(message));
  }
}

// Tries again what the stream did not take; returns whether it took any.
bool SocketLink::retry() {
  const auto self = shared_from_this();
  const std::size_t before = wire_bytes_;
  blocked_ = false;
  transmit();
  return wire_bytes_ != before || !blocked_;
}

void SocketLink::writable() {
  armed_to_write_ = false;
  if (blocked_) retry();
}

// The peer may have said why it hung up: what it sent before is still read.
void SocketLink::write_failed(int error) {
  failed_ = true;
  loop().post([weak = weak_from_this(), this, error] {
    while (!weak.expired() && read()) {
    }
    if (!weak.expired()) shut(lost(error));
  });
}

// Closing a socket with unread bytes would reset the connection and could destroy what was
// just sent. So the peer is told that nothing follows, and its own end is awaited.
void SocketLink::finish_flushing() {
  deaf_ = true;
  ended_ = true;
  stream_->end();
}

// ---- Receiving. One read per turn, so that the links of a loop take turns.

void SocketLink::arm() {
  if (!armed_to_read_) stream_->wait_readable(as_user());
  armed_to_read_ = true;
  if (blocked_ && !armed_to_write_) {
    stream_->wait_writable(as_user());
    armed_to_write_ = true;
  }
}

void SocketLink::readable() {
  armed_to_read_ = false;
  read();
}

bool SocketLink::poll() {
  if (!blocked_) return read();
  const auto weak = weak_from_this();
  const bool written = retry();
  return weak.expired() || read() || written;
}

bool SocketLink::read() {
  if (processing_ || state() == State::kClosed) return false;
  if (deaf_) reader_.reset();
  if (!open()) reader_.discard();
  const Transfer transfer = stream_->read(reader_.room());
  if (transfer.would_block) return false;
  if (transfer.bytes == 0) {
    stream_ended(transfer);
    return true;
  }
  const auto self = shared_from_this();
  count_in(transfer.bytes);
  reader_.filled(transfer.bytes);
  processing_ = true;
  process(self);
  processing_ = false;
  return true;
}

void SocketLink::stream_ended(const Transfer& transfer) {
  if (transfer.error != 0) {
    shut(lost(transfer.error));
  } else if (reader_.between_frames()) {
    shut("the peer closed the connection");
  } else {
    shut("the peer closed the connection in the middle of a message");
  }
}

// Handles what has been read. A handler may close the link, or drop the last pointer to
// it and itself with it: then only `self` is left, and nobody to call.
void SocketLink::process(const std::shared_ptr<LinkBase>& self) {
  try {
    while (!deaf_ && state() != State::kClosed && self.use_count() > 1 && take(reader_.next())) {
    }
  } catch (const std::exception& error) {
    fail(error);
    deaf_ = true;
  }
}

// Returns whether more may follow in what has been read.
bool SocketLink::take(FrameReader::Event event) {
  const FrameHeader& header = reader_.header();
  switch (event) {
    case FrameReader::Event::kNeedsBytes:
      return false;
    case FrameReader::Event::kHeader:
      check(header);
      return true;
    case FrameReader::Event::kMeta:
      place_payload();
      return true;
    case FrameReader::Event::kMessage:
      greeted_ = true;
      if (handle_own(header, reader_.meta())) return true;
      if (open()) {
        deliver(header, reader_.meta(), reader_.payload());
      } else {
        consumed(header.payload_bytes);
      }
      return true;
  }
  return false;
}

void SocketLink::place_payload() {
  const FrameHeader& header = reader_.header();
  if (header.payload_bytes == 0) return;
  const std::span<std::byte> payload =
      open() ? place(header, reader_.meta()) : std::span<std::byte>();
  if (open()) {
    reader_.place(payload);
  } else {
    reader_.discard();
  }
}

}  // namespace paceline
