// The workers of a run, connected to one another: sums over all of them, by Gloo.
//
// Gloo's traffic is neither encrypted nor authenticated; the ring binds to loopback unless
// the run allows more.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "exchange/options.h"
#include "net/link.h"

namespace paceline {

struct RingOptions {
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  std::string host = "127.0.0.1";  // to bind to
  std::string name;                // "worker1": in messages
  WireFormat wire = WireFormat::kFloat;
};

// Where members leave word for each other while they connect. May be called from the
// thread that makes the ring.
class RingNotes {
 public:
  virtual ~RingNotes() = default;
  virtual void leave(const std::string& key, const std::string& note) = 0;
  // Waits for it. Throws an Error when the run is over.
  virtual std::string find(const std::string& key) = 0;
};

class Ring {
 public:
  explicit Ring(const RingOptions& options);
  ~Ring();

  // To all others, before all that follows. Waits for them however long they take. Throws CommError
  // when one is gone or close() was called, and what the notes throw.
  void connect(RingNotes& notes);

  // Each member's values become the sums over all members, of the format of the wire; they
  // are the same bits everywhere. Everyone calls it with as many
  // values and the same tag; several threads may, with different tags. Waits for all members;
  // throws CommError when one is gone or close() was called.
  void sum(std::span<float> values, std::uint32_t tag);
  void sum(std::span<double> values, std::uint32_t tag);

  // Of the floats of all members, one behind the other in the order of their ranks, each
  // has brought `counts[rank]`, in its place; afterwards everyone has all.
  void gather(std::span<float> all, std::span<const std::size_t> counts, std::uint32_t tag);

  // From any thread: bytes of floats and doubles that were sent and received, piece by piece while
  // a sum is under way; Gloo's own framing is not counted.
  LinkCounters counters() const;
  // From any thread: bytes in both directions as the system sees them, framing and all, which grow
  // in the midst of a piece, too. Of each connection one of its two ends knows them, or both.
  std::uint64_t moved() const;

  // From any thread: whoever waits in connect() or sum(), here or elsewhere, throws soon.
  void close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace paceline
