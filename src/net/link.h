// A link: one ordered, two-way stream of messages between two roles.
//
// SocketLink carries it over TCP or Unix sockets, MemoryLink between two objects of one
// process; both keep the same promises:
//  - messages arrive whole, in the order of their sending within a priority class, or not
//    at all and closed() is called, once, with a reason;
//  - a payload is received straight into the memory place() names;
//  - at most `window` payload bytes are under way unconsumed in each direction; what is
//    beyond waits at the sender, most urgent first (lowest `priority`, then oldest);
//  - a frame that breaks the rules closes this link with a reason and touches nothing else.
// A link belongs to the thread that runs its Loop; only counters() may be called elsewhere.
// It lives as long as someone holds its pointer: dropping the last one closes it without
// further calls of its handler. It must not outlive its Loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "net/frame.h"

namespace paceline {

class Link;

class LinkHandler {
 public:
  virtual ~LinkHandler() = default;
  // Header and metadata of a message have arrived. Returns where its payload goes: exactly
  // header.payload_bytes long and valid until received() or closed(). Not called for
  // messages without payload. A thrown exception closes the link with its text.
  virtual std::span<std::byte> place(Link& link, const FrameHeader& header,
                                     std::string_view meta) = 0;
  // The message is complete. `payload` is what place() returned, now filled. A thrown
  // exception closes the link with its text.
  virtual void received(Link& link, const FrameHeader& header, std::string_view meta,
                        std::span<std::byte> payload) = 0;
  // The link is gone: the peer closed it, broke a rule, or close() was called.
  virtual void closed(Link& link, const std::string& reason) = 0;
};

// Bytes to send without copying them; `owner` keeps them alive until they are sent.
struct Payload {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

struct LinkCounters {
  std::uint64_t bytes_in = 0;  // headers and metadata included
  std::uint64_t bytes_out = 0;

  LinkCounters& operator+=(const LinkCounters& other) {
    bytes_in += other.bytes_in;
    bytes_out += other.bytes_out;
    return *this;
  }
};

int cached_bytes();  // what the second-level cache of a core holds, between 512 KiB and 2 MiB

struct LinkOptions {
  FrameLimits limits;
  std::uint64_t window = std::uint64_t{4} << 20;  // payload bytes under way, each direction
  std::uint64_t run = 0;                          // frames of another run close the link
  // Bytes of kernel buffer in each direction, 0 for what the system chooses. Larger buffers
  // are slower (what is in them has left the cache) and let nothing overtake; in smaller ones
  // both sides wait for each other more often.
  int socket_buffer = cached_bytes();
  // TCP: neighbours on the same host meet at a Unix socket, which costs half as much. Both ends
  // must want it; see neighbour_of() in socket.h.
  bool short_cut = false;
  // Whether metadata and payloads have a checksum. Unset: when they travel between hosts. On one
  // host they do not leave its memory, and looking at every byte would cost more than moving it.
  std::optional<bool> checksums = {};
  // Of a Listener: how long a connection may take to send its first whole frame, and how many
  // that have not sent one there may be. More wait in the kernel's queue until there are fewer.
  Duration hello_limit = std::chrono::seconds(10);
  std::size_t most_strangers = 256;
};

class Link {
 public:
  virtual ~Link() = default;
  // Sends a message; header.meta_bytes, payload_bytes, run and credit are filled in here.
  // Never blocks. After closing, silently does nothing. Lower `priority` is more urgent.
  virtual void send(FrameHeader header, std::string_view meta, Payload payload = {},
                    int priority = 0) = 0;
  // Sends what is queued only if `flush`, then closes. closed() follows from the loop.
  virtual void close(const std::string& reason, bool flush = false) = 0;
  virtual bool open() const = 0;
  virtual const std::string& peer() const = 0;  // "127.0.0.1:4242", "/tmp/x/server0.sock"
  virtual LinkCounters counters() const = 0;
};

}  // namespace paceline
