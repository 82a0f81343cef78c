// Gloo's waits can last until their deadline even when their own side has closed its
// connections. This stands between Gloo's algorithms and its transport, knows all connections and
// all buffers that are waited for, and ends these waits at once; none ends by itself.
//
// Whatever is longer than a piece travels in pieces, and each is counted when it has moved. All
// members must do so. Of a piece that is under way the system says how far it is: a sum over the
// slowest of links is seen to get on.
#pragma once

#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/context.h>
#include <gloo/transport/device.h>
#include <gloo/transport/pair.h>
#include <gloo/transport/unbound_buffer.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "exchange/allreduce/ring_sockets.h"
#include "net/link.h"

namespace paceline {

inline constexpr std::size_t kRingPiece = std::size_t{1} << 20;  // bytes

// The connections and the buffers that exist, and what they have moved.
class OpenEnds {
 public:
  void keep(std::shared_ptr<gloo::transport::Context> transport);  // whose the connections are
  void add(gloo::transport::Pair& pair);                           // of these
  void connected();                                                // all of them are
  void add(gloo::transport::UnboundBuffer* buffer);  // throws gloo::Exception after abort()
  void remove(gloo::transport::UnboundBuffer* buffer);
  void abort();  // closes the connections; waits throw gloo::Exception, now and later
  void check() const;

  void sent(std::size_t bytes) { out_ += bytes; }
  void received(std::size_t bytes) { in_ += bytes; }
  LinkCounters counters() const { return {in_, out_}; }
  std::uint64_t moved();  // bytes, as the system knows them, over its connections

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<gloo::transport::Context> transport_;
  std::vector<gloo::transport::Pair*> connections_;
  std::optional<RingSockets> sockets_;
  std::set<gloo::transport::UnboundBuffer*> buffers_;
  bool aborted_ = false;
  std::atomic<std::uint64_t> in_ = 0;
  std::atomic<std::uint64_t> out_ = 0;
};

class AbortableContext final : public gloo::rendezvous::Context {
 public:
  using gloo::rendezvous::Context::Context;

  // Waits for all members, until abort(). Throws gloo::Exception, and what the store throws.
  void connect(gloo::rendezvous::Store& store, std::shared_ptr<gloo::transport::Device> device);

  // From any thread, at any time:
  void abort() { open_->abort(); }
  LinkCounters counters() const { return open_->counters(); }
  std::uint64_t moved() const { return open_->moved(); }

 private:
  std::shared_ptr<OpenEnds> open_ = std::make_shared<OpenEnds>();
};

}  // namespace paceline
