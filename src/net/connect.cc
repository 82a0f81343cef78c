#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <thread>

#include "base/error.h"
#include "base/units.h"
#include "net/endpoint.h"
#include "net/socket.h"
#include "net/socket_link.h"
#include "net/socket_stream.h"

namespace paceline {
namespace {

constexpr auto kFirstPause = std::chrono::milliseconds(1);
constexpr auto kLongestPause = std::chrono::milliseconds(50);

// Reasons that go away when the peer comes up.
bool may_pass(int error) {
  switch (error) {
    case ECONNREFUSED:
    case ECONNRESET:
    case ENOENT:
    case EAGAIN:
    case ETIMEDOUT:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EINTR:
      return true;
    default:
      return false;
  }
}

int milliseconds_until(TimePoint deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1'000'000));
}

// Returns 0 or the system's error.
int connect_once(int descriptor, const Endpoint& endpoint, TimePoint deadline) {
  if (descriptor < 0) return errno;
  if (::connect(descriptor, endpoint.get(), endpoint.size) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  pollfd waiting{descriptor, POLLOUT, 0};
  const int ready = ::poll(&waiting, 1, milliseconds_until(deadline));
  if (ready < 0) return errno;
  if (ready == 0) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof(error);
  ::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

struct Connected {
  int descriptor;
  int family;
};

// Tries each endpoint once; `reason` tells why the last one failed. Throws CommError if
// trying again is useless for all of them.
std::optional<Connected> try_endpoints(const Address& address, TimePoint deadline,
                                       std::string& reason) {
  bool hope = false;
  for (const Endpoint& endpoint : resolve(address)) {
    Descriptor descriptor = open_socket(endpoint);
    const int error = connect_once(descriptor.get(), endpoint, deadline);
    if (error == 0) return Connected{descriptor.take(), endpoint.family()};
    reason = errno_text(error);
    hope = hope || may_pass(error);
  }
  if (!hope) throw CommError("cannot connect to {}: {}", address.text(), reason);
  return std::nullopt;
}

Connected connect_before(const Address& address, TimePoint deadline) {
  const TimePoint start = Clock::now();
  Duration pause = kFirstPause;
  std::string reason;
  while (true) {
    if (auto connected = try_endpoints(address, deadline, reason)) return *connected;
    const TimePoint now = Clock::now();
    if (now >= deadline) {
      throw CommError(
          "cannot connect to {}: tried for {}, the last time: {}; is the peer running, "
          "and is this its address?",
          address.text(), format_duration(now - start), reason);
    }
    std::this_thread::sleep_for(std::min<Duration>(pause, deadline - now));
    pause = std::min<Duration>(2 * pause, kLongestPause);
  }
}

std::optional<Connected> take_short_cut(const Address& address) {
  const Address neighbour = neighbour_of(address);
  if (neighbour.host.size() > kLongestUnixPath) return std::nullopt;  // nobody listens there
  const Endpoint endpoint = resolve(neighbour).front();
  Descriptor descriptor = open_socket(endpoint);
  const bool there = descriptor.valid() &&
                     ::connect(descriptor.get(), endpoint.get(), endpoint.size) == 0 &&
                     is_same_user(descriptor.get());  // others might have taken the name
  if (!there) return std::nullopt;
  return Connected{descriptor.take(), endpoint.family()};
}

}  // namespace

std::shared_ptr<Link> connect(Loop& loop, const Address& address, const LinkOptions& options,
                              LinkHandler& handler, TimePoint deadline) {
  std::optional<Connected> near;
  if (options.short_cut && address.kind == Address::Kind::kTcp) near = take_short_cut(address);
  const Connected socket = near ? *near : connect_before(address, deadline);
  tune(socket.descriptor, socket.family, options.socket_buffer);
  LinkOptions chosen = options;
  chosen.checksums = options.checksums.value_or(!stays_on_host(socket.descriptor));
  const std::string peer = address.text().substr(address.text().find(':') + 1);
  auto link = std::make_shared<SocketLink>(
      loop, make_socket_stream(loop, socket.descriptor, socket.family), peer, chosen);
  link->start(handler);
  return link;
}

}  // namespace paceline
