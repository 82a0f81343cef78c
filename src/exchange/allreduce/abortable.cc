#include "exchange/allreduce/abortable.h"

#include <gloo/common/error.h>

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
    const bool done = inner_->waitRecv(rank, timeout);
    if (!done) open_->check();
    return done;
  }
  bool waitSend(int* rank, Milliseconds timeout) override {
    const bool done = inner_->waitSend(rank, timeout);
    if (!done) open_->check();
    return done;
  }
  void abortWaitRecv() override { inner_->abortWaitRecv(); }
  void abortWaitSend() override { inner_->abortWaitSend(); }
  void send(int to, std::uint64_t slot, std::size_t offset, std::size_t bytes) override {
    open_->check();
    inner_->send(to, slot, offset, bytes);
  }
  void recv(int from, std::uint64_t slot, std::size_t offset, std::size_t bytes) override {
    open_->check();
    inner_->recv(from, slot, offset, bytes);
  }
  void recv(std::vector<int> from, std::uint64_t slot, std::size_t offset,
            std::size_t bytes) override {
    open_->check();
    inner_->recv(std::move(from), slot, offset, bytes);
  }

 private:
  std::unique_ptr<UnboundBuffer> inner_;
  std::shared_ptr<OpenBuffers> open_;
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
