// Links over sockets: addresses, listening, connecting.
//
// An address is "tcp:HOST:PORT" (port 0: any free one), "unix:PATH", or "unix:@NAME", which has
// no file and is known in this network namespace only. Listeners bind to loopback only, unless
// `insecure` is set: traffic is neither encrypted nor authenticated until TLS fills the seam in
// byte_stream.h.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "net/link.h"
#include "net/loop.h"

namespace paceline {

struct Address {
  enum class Kind { kTcp, kUnix };
  Kind kind = Kind::kUnix;
  std::string host;  // or the path
  std::uint16_t port = 0;

  std::string text() const;
  static Address parse(std::string_view text);  // throws ConfigError
};

// Where a listener on this TCP address is found by its neighbours, if it takes short cuts.
Address neighbour_of(const Address& tcp);

class Listener {
 public:
  // Called for each accepted connection: keeps the link and returns who handles it. The
  // handler must outlive the link. `link` is open; its first frame is yet to come.
  using Accept = std::function<LinkHandler*(std::shared_ptr<Link> link)>;

  // Throws CommError: the port is in use, the path cannot be bound, or the address is not
  // loopback and `insecure` is false.
  Listener(Loop& loop, const Address& address, const LinkOptions& options, Accept accept,
           bool insecure = false);
  ~Listener();  // stops listening; links live on. Removes the socket's file.

  const Address& address() const;  // with the port that was chosen

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
  std::shared_ptr<Impl> for_neighbours_;  // who take the short cut
};

// Connects, trying again until `deadline` while nobody listens. Throws CommError naming
// the address, how long it tried, and the system's last reason. Blocks the caller.
std::shared_ptr<Link> connect(Loop& loop, const Address& address, const LinkOptions& options,
                              LinkHandler& handler, TimePoint deadline);

}  // namespace paceline
