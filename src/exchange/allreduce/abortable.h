// Gloo's waits can last until their deadline even when their own side has closed its
// connections. This stands between Gloo's algorithms and its transport, knows all buffers that
// are waited for, and ends these waits at once.
//
// Whatever is longer than a piece travels in pieces, and each is counted when it has moved: a sum
// over a slow link is seen to get on. All members must do so.
#pragma once

#include <gloo/rendezvous/context.h>
#include <gloo/transport/context.h>
#include <gloo/transport/unbound_buffer.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>

#include "net/link.h"

namespace paceline {

inline constexpr std::size_t kRingPiece = std::size_t{1} << 20;  // bytes

// The buffers that exist, and what they have moved.
class OpenBuffers {
 public:
  void add(gloo::transport::UnboundBuffer* buffer);  // throws gloo::Exception after abort()
  void remove(gloo::transport::UnboundBuffer* buffer);
  void abort();  // waits throw gloo::Exception, now and later
  void check() const;

  void sent(std::size_t bytes) { out_ += bytes; }
  void received(std::size_t bytes) { in_ += bytes; }
  LinkCounters counters() const { return {in_, out_}; }

 private:
  mutable std::mutex mutex_;
  std::set<gloo::transport::UnboundBuffer*> buffers_;
  bool aborted_ = false;
  std::atomic<std::uint64_t> in_ = 0;
  std::atomic<std::uint64_t> out_ = 0;
};

class AbortableContext final : public gloo::rendezvous::Context {
 public:
  using gloo::rendezvous::Context::Context;

  // After the connections are there; from then on abort() may be called by any thread.
  void make_abortable();
  void abort();
  LinkCounters counters() const { return open_->counters(); }  // from any thread

 private:
  std::shared_ptr<OpenBuffers> open_ = std::make_shared<OpenBuffers>();
};

}  // namespace paceline
