#include "exchange/allreduce/abortable.h"

#include <gloo/common/error.h>

#include <algorithm>
#include <deque>
#include <functional>

#include "base/error.h"

namespace paceline {
namespace {

using gloo::transport::UnboundBuffer;
using Milliseconds = std::chrono::milliseconds;

class AbortableBuffer final : public UnboundBuffer {
 public:
  AbortableBuffer(std::unique_ptr<UnboundBuffer> inner, std::shared_ptr<OpenBuffers> open)
      : UnboundBuffer(inner->ptr, inner->size), inner_(std::move(inner)), open_(std::move(open)) {
    open_->add(inner_.get());
  }
  ~AbortableBuffer() override { open_->remove(inner_.get()); }

  bool waitRecv(int* rank, Milliseconds timeout) override {
    return wait(receiving_, [&](std::size_t bytes) {
      if (!inner_->waitRecv(rank, timeout)) return false;
      open_->received(bytes);
      return true;
    });
  }
  bool waitSend(int* rank, Milliseconds timeout) override {
    return wait(sending_, [&](std::size_t bytes) {
      if (!inner_->waitSend(rank, timeout)) return false;
      open_->sent(bytes);
      return true;
    });
  }
  void abortWaitRecv() override { inner_->abortWaitRecv(); }
  void abortWaitSend() override { inner_->abortWaitSend(); }
  void send(int to, std::uint64_t slot, std::size_t offset, std::size_t bytes) override {
    move(sending_, offset, bytes,
         [&](std::size_t at, std::size_t piece) { inner_->send(to, slot, at, piece); });
  }
  void recv(int from, std::uint64_t slot, std::size_t offset, std::size_t bytes) override {
    move(receiving_, offset, bytes,
         [&](std::size_t at, std::size_t piece) { inner_->recv(from, slot, at, piece); });
  }
  // From whoever is first: its pieces could not be told from another's.
  void recv(std::vector<int> from, std::uint64_t slot, std::size_t offset,
            std::size_t bytes) override {
    bytes = std::min(bytes, size - offset);
    PACELINE_CHECK(bytes <= kRingPiece);
    open_->check();
    receiving_.push_back(bytes);
    inner_->recv(std::move(from), slot, offset, bytes);
  }

 private:
  using Operations = std::deque<std::size_t>;  // bytes of each that is under way, oldest first

  static std::size_t piece_of(std::size_t bytes) { return std::min(bytes, kRingPiece); }

  // Pieces of one slot arrive in the order in which they were sent.
  void move(Operations& operations, std::size_t offset, std::size_t bytes,
            const std::function<void(std::size_t at, std::size_t piece)>& begin) {
    bytes = std::min(bytes, size - offset);  // it may not be said
    open_->check();
    operations.push_back(bytes);
    do {
      const std::size_t piece = piece_of(bytes);
      begin(offset, piece);
      offset += piece;
      bytes -= piece;
    } while (bytes > 0);
  }

  // For all pieces of the oldest operation.
  bool wait(Operations& operations, const std::function<bool(std::size_t piece)>& moved) {
    std::size_t bytes = operations.empty() ? 0 : operations.front();
    do {
      const std::size_t piece = piece_of(bytes);
      if (!moved(piece)) {
        open_->check();
        return false;
      }
      bytes -= piece;
    } while (bytes > 0);
    if (!operations.empty()) operations.pop_front();
    return true;
  }

  std::unique_ptr<UnboundBuffer> inner_;
  std::shared_ptr<OpenBuffers> open_;
  Operations sending_;
  Operations receiving_;
};

// Gives out such buffers; all else is the transport's.
class AbortableTransport final : public gloo::transport::Context {
 public:
  AbortableTransport(std::shared_ptr<gloo::transport::Context> inner,
                     std::shared_ptr<OpenBuffers> open)
      : Context(inner->rank, inner->size), inner_(std::move(inner)), open_(std::move(open)) {}

  std::unique_ptr<gloo::transport::Pair>& getPair(int peer) override {
    return inner_->getPair(peer);
  }
  std::unique_ptr<gloo::transport::Pair>& createPair(int peer) override {
    return inner_->createPair(peer);
  }
  std::unique_ptr<UnboundBuffer> createUnboundBuffer(void* pointer, std::size_t bytes) override {
    return std::make_unique<AbortableBuffer>(inner_->createUnboundBuffer(pointer, bytes), open_);
  }

 private:
  std::shared_ptr<gloo::transport::Context> inner_;
  std::shared_ptr<OpenBuffers> open_;
};

}  // namespace

void OpenBuffers::add(UnboundBuffer* buffer) {
  const std::lock_guard lock(mutex_);
  if (aborted_) throw gloo::IoException("the connections are closed");
  buffers_.insert(buffer);
}

void OpenBuffers::remove(UnboundBuffer* buffer) {
  const std::lock_guard lock(mutex_);
  buffers_.erase(buffer);
}

void OpenBuffers::abort() {
  const std::lock_guard lock(mutex_);
  aborted_ = true;
  for (UnboundBuffer* buffer : buffers_) {
    buffer->abortWaitRecv();
    buffer->abortWaitSend();
  }
}

void OpenBuffers::check() const {
  const std::lock_guard lock(mutex_);
  if (aborted_) throw gloo::IoException("the connections are closed");
}

void AbortableContext::make_abortable() {
  transportContext_ = std::make_shared<AbortableTransport>(transportContext_, open_);
}

void AbortableContext::abort() {
  open_->abort();
}

}  // namespace paceline
