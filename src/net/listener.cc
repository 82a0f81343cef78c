#include <sys/socket.h>
#include <unistd.h>

#include <asio.hpp>
#include <cerrno>
#include <deque>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/units.h"
#include "net/endpoint.h"
#include "net/socket.h"
#include "net/socket_link.h"
#include "net/socket_stream.h"

namespace paceline {
namespace {

constexpr int kBacklog = 1024;
constexpr auto kPauseAfterFailure = std::chrono::milliseconds(100);
constexpr auto kPauseWhenFull = std::chrono::milliseconds(10);
// Who looks this late was stopped: then nobody else is to blame for silence.
constexpr Duration kSleptThrough = std::chrono::seconds(1);

[[noreturn]] void fail(const Address& address, int error) {
  if (error == EADDRINUSE && address.kind == Address::Kind::kTcp) {
    throw CommError(
        "cannot listen on {}: port {} is in use; choose another port, 0 for any free "
        "one, or stop the process that holds it",
        address.text(), address.port);
  }
  if (error == EADDRINUSE) {
    throw CommError(
        "cannot listen on {}: another process listens there; choose another "
        "directory for the run, or stop that process",
        address.text());
  }
  throw CommError("cannot listen on {}: {}", address.text(), errno_text(error));
}

bool has_file(const Address& address) {
  return address.kind == Address::Kind::kUnix && !address.host.starts_with('@');
}

// A socket's file outlives a process that was killed; then nobody answers there.
bool abandoned(const Endpoint& endpoint) {
  const Descriptor probe = open_socket(endpoint);
  return probe.valid() && ::connect(probe.get(), endpoint.get(), endpoint.size) != 0 &&
         errno == ECONNREFUSED;
}

void bind_to(int descriptor, const Endpoint& endpoint, const Address& address) {
  if (::bind(descriptor, endpoint.get(), endpoint.size) == 0) return;
  const int error = errno;
  if (!has_file(address) || error != EADDRINUSE || !abandoned(endpoint)) fail(address, error);
  ::unlink(address.host.c_str());
  if (::bind(descriptor, endpoint.get(), endpoint.size) != 0) fail(address, errno);
}

int listen_on(const Endpoint& endpoint, const Address& address) {
  Descriptor descriptor = open_socket(endpoint);
  if (!descriptor.valid()) fail(address, errno);
  const int on = 1;
  ::setsockopt(descriptor.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  bind_to(descriptor.get(), endpoint, address);
  if (::listen(descriptor.get(), kBacklog) != 0) fail(address, errno);
  return descriptor.take();
}

Endpoint endpoint_for(const Address& address, bool insecure) {
  const Endpoint endpoint = resolve(address).front();
  if (!endpoint.local() && !insecure) {
    throw CommError(
        "refusing to listen on {}: other hosts could reach it, and traffic is neither "
        "encrypted nor authenticated; use a loopback address, or allow it with the "
        "insecure option on a network you trust",
        address.text());
  }
  return endpoint;
}

}  // namespace

struct Listener::Impl : std::enable_shared_from_this<Listener::Impl> {
  Impl(Loop& its_loop, Address its_address, const LinkOptions& its_options, Accept its_accept,
       bool insecure)
      : loop(its_loop),
        address(std::move(its_address)),
        options(its_options),
        accept(std::move(its_accept)),
        socket(loop.context(), listen_on(endpoint_for(address, insecure), address)) {
    Endpoint bound;
    bound.size = sizeof(bound.storage);
    ::getsockname(socket.native_handle(), bound.get(), &bound.size);
    if (address.kind == Address::Kind::kTcp) address.port = bound.port();
  }
  ~Impl() {
    if (has_file(address)) ::unlink(address.host.c_str());
  }

  void wait();
  void accept_waiting();
  void welcome(int descriptor, const Endpoint& peer);
  bool turns_away(int descriptor) const;
  void forget_greeted();
  bool full();
  void watch_strangers();
  void look_at_strangers();

  Loop& loop;
  Address address;
  LinkOptions options;
  Accept accept;
  asio::posix::stream_descriptor socket;
  Loop::Token pause;
  // Connections that have not sent a whole frame yet, oldest first.
  struct Stranger {
    std::weak_ptr<SocketLink> link;
    TimePoint since;
  };
  std::deque<Stranger> strangers;
  Loop::Token looks;
  TimePoint next_look;
};

void Listener::Impl::wait() {
  socket.async_wait(asio::posix::stream_descriptor::wait_read,
                    [weak = weak_from_this()](const asio::error_code& error) {
                      if (error) return;
                      if (auto alive = weak.lock()) alive->accept_waiting();
                    });
}

void Listener::Impl::accept_waiting() {
  while (true) {
    if (full()) {
      pause = loop.after(kPauseWhenFull, [this] { accept_waiting(); });
      return;
    }
    Endpoint peer;
    peer.size = sizeof(peer.storage);
    const int descriptor =
        ::accept4(socket.native_handle(), peer.get(), &peer.size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor >= 0) {
      welcome(descriptor, peer);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return wait();
    } else if (errno != ECONNABORTED && errno != EINTR) {
      // Out of descriptors or memory: the connection stays in the kernel's queue.
      spdlog::warn("{}: cannot accept a connection: {}", address.text(), errno_text(errno));
      pause = loop.after(kPauseAfterFailure, [this] { wait(); });
      return;
    }
  }
}

// A name of the kernel's, unlike a file, is open to every user of the host.
bool Listener::Impl::turns_away(int descriptor) const {
  const bool named = address.kind == Address::Kind::kUnix && !has_file(address);
  if (!named || is_same_user(descriptor)) return false;
  spdlog::warn("{}: turned away a connection of user {}: only this process's own user may connect",
               address.text(), user_of(descriptor));
  return true;
}

void Listener::Impl::forget_greeted() {
  std::erase_if(strangers, [](const Stranger& stranger) {
    const auto link = stranger.link.lock();
    return !link || !link->open() || link->greeted();
  });
}

bool Listener::Impl::full() {
  if (strangers.size() < options.most_strangers) return false;
  forget_greeted();
  return strangers.size() >= options.most_strangers;
}

void Listener::Impl::watch_strangers() {
  if (strangers.empty()) return looks.reset();
  next_look = strangers.front().since + options.hello_limit;
  looks = loop.after(next_look - Clock::now(), [this] { look_at_strangers(); });
}

void Listener::Impl::look_at_strangers() {
  const TimePoint now = Clock::now();
  forget_greeted();
  const bool slept = now - next_look > kSleptThrough;
  for (Stranger& stranger : strangers) {
    if (slept) stranger.since = now;
    if (now - stranger.since < options.hello_limit) continue;
    if (const auto link = stranger.link.lock()) {
      link->close(fmt::format("it has not sent a whole message in {}",
                              format_duration(options.hello_limit)),
                  /*flush=*/false);
    }
  }
  forget_greeted();
  watch_strangers();
}

void Listener::Impl::welcome(int descriptor, const Endpoint& peer) {
  if (turns_away(descriptor)) {
    ::close(descriptor);
    return;
  }
  const bool file = address.kind == Address::Kind::kUnix;
  const int family = file ? AF_UNIX : peer.family();
  tune(descriptor, family, options.socket_buffer);
  LinkOptions chosen = options;
  chosen.checksums = options.checksums.value_or(!stays_on_host(descriptor));
  auto link = std::make_shared<SocketLink>(loop, make_socket_stream(loop, descriptor, family),
                                           file ? address.host : peer.text(), chosen);
  strangers.push_back({link, Clock::now()});
  if (!looks) watch_strangers();
  if (LinkHandler* handler = accept(link)) link->start(*handler);
}

Listener::Listener(Loop& loop, const Address& address, const LinkOptions& options, Accept accept,
                   bool insecure)
    : impl_(std::make_shared<Impl>(loop, address, options, accept, insecure)) {
  impl_->wait();
  if (!options.short_cut || address.kind != Address::Kind::kTcp) return;
  try {
    for_neighbours_ = std::make_shared<Impl>(loop, neighbour_of(impl_->address), options,
                                             std::move(accept), insecure);
    for_neighbours_->wait();
  } catch (const CommError& error) {
    spdlog::info("neighbours come by TCP: {}", error.what());
  }
}

Listener::~Listener() = default;

const Address& Listener::address() const {
  return impl_->address;
}

}  // namespace paceline
