#include "exchange/allreduce/abortable.h"

#include <gloo/common/error.h>
#include <gloo/transport/tcp/address.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>

#include "base/error.h"
#include "net/endpoint.h"

namespace paceline {
namespace {

using gloo::transport::UnboundBuffer;
using Milliseconds = std::chrono::milliseconds;

// A member may have good reasons to be slow. The chief sees whether it hangs, and abort() ends all
// waits.
constexpr Milliseconds kNever = std::chrono::hours(24 * 365);

class AbortableBuffer final : public UnboundBuffer {
 public:
  AbortableBuffer(std::unique_ptr<UnboundBuffer> inner, std::shared_ptr<OpenEnds> open)
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
  std::shared_ptr<OpenEnds> open_;
  Operations sending_;
  Operations receiving_;
};

// Gives out such buffers; all else is the transport's.
class AbortableTransport final : public gloo::transport::Context {
 public:
  AbortableTransport(std::shared_ptr<gloo::transport::Context> inner,
                     std::shared_ptr<OpenEnds> open)
      : Context(inner->rank, inner->size), inner_(std::move(inner)), open_(std::move(open)) {}

  std::unique_ptr<gloo::transport::Pair>& getPair(int peer) override {
    return inner_->getPair(peer);
  }
  std::unique_ptr<gloo::transport::Pair>& createPair(int peer) override {
    auto& pair = inner_->createPair(peer);
    open_->add(*pair);
    return pair;
  }
  std::unique_ptr<UnboundBuffer> createUnboundBuffer(void* pointer, std::size_t bytes) override {
    return std::make_unique<AbortableBuffer>(inner_->createUnboundBuffer(pointer, bytes), open_);
  }

 private:
  std::shared_ptr<gloo::transport::Context> inner_;
  std::shared_ptr<OpenEnds> open_;
};

// Its own end, as the system names it once it is connected.
std::string place_of(const gloo::transport::Pair& pair) {
  Endpoint endpoint;
  endpoint.storage = gloo::transport::tcp::Address(pair.address().bytes()).getSockaddr();
  return endpoint.text();
}

// Makes such transports.
class AbortableDevice final : public gloo::transport::Device {
 public:
  AbortableDevice(std::shared_ptr<gloo::transport::Device> inner, std::shared_ptr<OpenEnds> open)
      : inner_(std::move(inner)), open_(std::move(open)) {}

  std::string str() const override { return inner_->str(); }
  const std::string& getPCIBusID() const override { return inner_->getPCIBusID(); }
  int getInterfaceSpeed() const override { return inner_->getInterfaceSpeed(); }
  std::shared_ptr<gloo::transport::Context> createContext(int rank, int size) override {
    auto transport = inner_->createContext(rank, size);
    transport->setTimeout(kNever);
    open_->keep(transport);
    return std::make_shared<AbortableTransport>(std::move(transport), open_);
  }

 private:
  std::shared_ptr<gloo::transport::Device> inner_;
  std::shared_ptr<OpenEnds> open_;
};

}  // namespace

void OpenEnds::keep(std::shared_ptr<gloo::transport::Context> transport) {
  const std::lock_guard lock(mutex_);
  transport_ = std::move(transport);
}

void OpenEnds::add(gloo::transport::Pair& pair) {
  const std::lock_guard lock(mutex_);
  if (aborted_) throw gloo::IoException("the connections are closed");
  connections_.push_back(&pair);
}

void OpenEnds::connected() {
  const std::lock_guard lock(mutex_);
  std::set<std::string> places;
  for (const gloo::transport::Pair* pair : connections_) places.insert(place_of(*pair));
  sockets_.emplace(places);
}

std::uint64_t OpenEnds::moved() {
  const std::lock_guard lock(mutex_);
  return sockets_ ? sockets_->moved() : 0;
}

void OpenEnds::add(UnboundBuffer* buffer) {
  const std::lock_guard lock(mutex_);
  if (aborted_) throw gloo::IoException("the connections are closed");
  buffers_.insert(buffer);
}

void OpenEnds::remove(UnboundBuffer* buffer) {
  const std::lock_guard lock(mutex_);
  buffers_.erase(buffer);
}

void OpenEnds::abort() {
  const std::lock_guard lock(mutex_);
  aborted_ = true;
  for (UnboundBuffer* buffer : buffers_) {
    buffer->abortWaitRecv();
    buffer->abortWaitSend();
  }
  for (gloo::transport::Pair* pair : connections_) pair->close();
}

void OpenEnds::check() const {
  const std::lock_guard lock(mutex_);
  if (aborted_) throw gloo::IoException("the connections are closed");
}

void AbortableContext::connect(gloo::rendezvous::Store& store,
                               std::shared_ptr<gloo::transport::Device> device) {
  setTimeout(kNever);
  std::shared_ptr<gloo::transport::Device> abortable =
      std::make_shared<AbortableDevice>(std::move(device), open_);
  connectFullMesh(store, abortable);
  open_->check();  // a connection that is closed while it is waited for looks like any other
  open_->connected();
}

}  // namespace paceline
