// Gloo's waits can last until their deadline even when their own side has closed its
// connections. This stands between Gloo's algorithms and its transport, knows all buffers that
// are waited for, and ends these waits at once.
#pragma once

#include <gloo/rendezvous/context.h>
#include <gloo/transport/context.h>
#include <gloo/transport/unbound_buffer.h>

#include <memory>
#include <mutex>
#include <set>

namespace paceline {

// The buffers that exist.
class OpenBuffers {
 public:
  void add(gloo::transport::UnboundBuffer* buffer);  // throws gloo::Exception after abort()
  void remove(gloo::transport::UnboundBuffer* buffer);
  void abort();  // waits throw gloo::Exception, now and later
  void check() const;

 private:
  mutable std::mutex mutex_;
  std::set<gloo::transport::UnboundBuffer*> buffers_;
  bool aborted_ = false;
};

class AbortableContext final : public gloo::rendezvous::Context {
 public:
  using gloo::rendezvous::Context::Context;

  // After the connections are there; from then on abort() may be called by any thread.
  void make_abortable();
  void abort();

 private:
  std::shared_ptr<OpenBuffers> open_ = std::make_shared<OpenBuffers>();
};

}  // namespace paceline
