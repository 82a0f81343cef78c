#include "net/memory_link.h"

#include <cstring>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "net/link_base.h"

namespace paceline {
namespace {

class MemoryLink;
using Messages = std::deque<std::unique_ptr<Message>>;

// What is on the way to one end: all that the threads of both ends touch. A message stays
// with its sender's thread: the receiver copies out of it under the lock, and it returns to
// the sender to let its payload go. So a sender may close, and free its memory, any time.
struct Pipe {
  std::mutex mutex;
  Loop* loop = nullptr;  // the receiver's; null: it is gone
  std::weak_ptr<MemoryLink> receiver;
  Messages messages;  // to the receiver
  Messages returned;  // that the receiver once sent
  bool ended = false;
  bool scheduled = false;
};

void empty_pipe(const std::shared_ptr<Pipe>& pipe);

// Changes what is in the pipe and sees to it that the receiver looks.
template <typename Change>
void put(const std::shared_ptr<Pipe>& pipe, Change change) {
  const std::lock_guard lock(pipe->mutex);
  if (pipe->loop == nullptr) return;
  change();
  if (std::exchange(pipe->scheduled, true)) return;
  pipe->loop->post([pipe] { empty_pipe(pipe); });
}

LinkOptions without_checksums(LinkOptions options) {
  options.checksums = false;
  return options;
}

class MemoryLink final : public LinkBase {
 public:
  MemoryLink(const MemoryEnd& end, const LinkOptions& options, std::shared_ptr<Pipe> in,
             std::shared_ptr<Pipe> out)
      : LinkBase(*end.loop, end.peer, without_checksums(options)),
        limits_(options.limits),
        in_(std::move(in)),
        out_(std::move(out)) {
    set_handler(end.handler);
  }
  ~MemoryLink() override {
    if (state() != State::kClosed) hang_up();
  }

  void take_back(Messages returned);
  void receive();
  void peer_ended() { shut("the peer closed the connection"); }

 private:
  void transmit() override;
  void release() override { hang_up(); }
  void hang_up();
  void finish_flushing();
  bool take_next();
  bool copy_payload(std::span<std::byte> to);

  const FrameLimits limits_;
  std::shared_ptr<Pipe> in_;
  std::shared_ptr<Pipe> out_;
  std::size_t sent_ = 0;  // messages that have not returned
  std::string meta_;      // of the message being received
  bool receiving_ = false;
};

void empty_pipe(const std::shared_ptr<Pipe>& pipe) {
  Messages returned;
  bool ended = false;
  {
    const std::lock_guard lock(pipe->mutex);
    returned.swap(pipe->returned);
    ended = pipe->ended;
    pipe->scheduled = false;
  }
  if (auto link = pipe->receiver.lock()) link->take_back(std::move(returned));
  // Holds no reference during the call: the link looks whether others still do.
  if (MemoryLink* link = pipe->receiver.lock().get()) link->receive();
  if (auto link = pipe->receiver.lock(); link && ended) link->peer_ended();
}

void MemoryLink::transmit() {
  const auto self = shared_from_this();  // letting a payload go may drop the link
  while (state() != State::kClosed) {
    std::unique_ptr<Message> message = next_message();
    if (!message) break;
    count_out(message->size());
    put(out_, [&] {
      ++sent_;
      out_->messages.push_back(std::move(message));
    });
  }
  finish_flushing();
}

void MemoryLink::take_back(Messages returned) {
  sent_ -= returned.size();
  for (auto& message : returned) queue().recycle(std::move(message));
  finish_flushing();
}

void MemoryLink::finish_flushing() {
  if (state() == State::kFlushing && queue().empty() && sent_ == 0) shut({});
}

void MemoryLink::hang_up() {
  Messages undelivered;
  Messages withdrawn;
  {
    const std::lock_guard lock(in_->mutex);
    in_->loop = nullptr;
    undelivered.swap(in_->messages);
  }
  put(out_, [&] {
    out_->ended = true;
    withdrawn.swap(out_->messages);
    for (auto& message : undelivered) out_->returned.push_back(std::move(message));
  });
}

void MemoryLink::receive() {
  if (receiving_) return;
  const auto self = shared_from_this();
  receiving_ = true;
  try {
    while (state() != State::kClosed && self.use_count() > 1 && take_next()) {
    }
  } catch (const std::exception& error) {
    fail(error);
  }
  receiving_ = false;
}

bool MemoryLink::take_next() {
  FrameHeader header;
  {
    const std::lock_guard lock(in_->mutex);
    if (in_->messages.empty()) return false;
    Message& message = *in_->messages.front();
    count_in(message.size());
    header = decode(message.encoded, limits_);
    meta_.swap(message.meta);
  }
  check(header);
  std::span<std::byte> payload;
  if (header.payload_bytes > 0 && open()) payload = place(header, meta_);
  if (!copy_payload(open() ? payload : std::span<std::byte>())) return false;
  if (handle_own(header, meta_)) return true;
  if (open()) {
    deliver(header, meta_, payload);
  } else {
    consumed(header.payload_bytes);
  }
  return true;
}

// Copies the payload of the first message and returns it; false: the sender withdrew it.
bool MemoryLink::copy_payload(std::span<std::byte> to) {
  std::unique_ptr<Message> message;
  {
    const std::lock_guard lock(in_->mutex);
    if (in_->messages.empty()) return false;
    message = std::move(in_->messages.front());
    in_->messages.pop_front();
    if (!to.empty()) std::memcpy(to.data(), message->payload.bytes.data(), to.size());
  }
  put(out_, [&] { out_->returned.push_back(std::move(message)); });
  return true;
}

}  // namespace

std::pair<std::shared_ptr<Link>, std::shared_ptr<Link>> connect_in_memory(
    const MemoryEnd& first, const MemoryEnd& second, const LinkOptions& options) {
  auto to_first = std::make_shared<Pipe>();
  auto to_second = std::make_shared<Pipe>();
  to_first->loop = first.loop;
  to_second->loop = second.loop;
  auto a = std::make_shared<MemoryLink>(first, options, to_first, to_second);
  auto b = std::make_shared<MemoryLink>(second, options, to_second, to_first);
  to_first->receiver = a;
  to_second->receiver = b;
  return {a, b};
}

}  // namespace paceline
