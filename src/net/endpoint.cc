#include "net/endpoint.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "base/error.h"
#include "net/link.h"

namespace paceline {
namespace {

Endpoint unix_endpoint(const std::string& path) {
  Endpoint endpoint;
  auto* address = reinterpret_cast<sockaddr_un*>(&endpoint.storage);
  if (path.size() > kLongestUnixPath) {
    throw CommError(
        "{}: the path of a Unix socket has at most {} bytes, this one {}; choose a "
        "shorter directory for the run",
        path, kLongestUnixPath, path.size());
  }
  address->sun_family = AF_UNIX;
  std::memcpy(address->sun_path, path.c_str(), path.size() + 1);
  const bool named = path.starts_with('@');  // instead of a path: a zero, and no zero at the end
  if (named) address->sun_path[0] = '\0';
  const std::size_t bytes = path.size() + (named ? 0 : 1);
  endpoint.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + bytes);
  return endpoint;
}

template <typename Socket>
const Socket& as(const Endpoint& endpoint) {
  return reinterpret_cast<const Socket&>(endpoint.storage);
}

}  // namespace

bool Endpoint::local() const {
  if (family() == AF_INET) {
    return (ntohl(as<sockaddr_in>(*this).sin_addr.s_addr) >> 24) == IN_LOOPBACKNET;
  }
  if (family() == AF_INET6) return IN6_IS_ADDR_LOOPBACK(&as<sockaddr_in6>(*this).sin6_addr);
  return true;
}

std::uint16_t Endpoint::port() const {
  if (family() == AF_INET) return ntohs(as<sockaddr_in>(*this).sin_port);
  if (family() == AF_INET6) return ntohs(as<sockaddr_in6>(*this).sin6_port);
  return 0;
}

std::string Endpoint::text() const {
  if (family() == AF_UNIX) return as<sockaddr_un>(*this).sun_path;
  char host[INET6_ADDRSTRLEN] = "?";
  const bool six = family() == AF_INET6;
  const void* address = six ? static_cast<const void*>(&as<sockaddr_in6>(*this).sin6_addr)
                            : &as<sockaddr_in>(*this).sin_addr;
  ::inet_ntop(family(), address, host, sizeof(host));
  return six ? fmt::format("[{}]:{}", host, port()) : fmt::format("{}:{}", host, port());
}

std::vector<Endpoint> resolve(const Address& address) {
  if (address.kind == Address::Kind::kUnix) return {unix_endpoint(address.host)};
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address.port);
  const int status = ::getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found);
  if (status != 0) {
    throw CommError("{}: host '{}' cannot be resolved: {}", address.text(), address.host,
                    ::gai_strerror(status));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  std::vector<Endpoint> endpoints;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    Endpoint& endpoint = endpoints.emplace_back();
    std::memcpy(&endpoint.storage, each->ai_addr, each->ai_addrlen);
    endpoint.size = each->ai_addrlen;
  }
  std::stable_partition(endpoints.begin(), endpoints.end(),
                        [](const Endpoint& e) { return e.family() == AF_INET; });
  return endpoints;
}

Descriptor::~Descriptor() {
  if (valid()) ::close(descriptor_);
}

int Descriptor::take() {
  const int descriptor = descriptor_;
  descriptor_ = -1;
  return descriptor;
}

Descriptor open_socket(const Endpoint& endpoint) {
  return Descriptor(::socket(endpoint.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

int cached_bytes() {
  constexpr long kLeast = 512L << 10;
  constexpr long kMost = 2048L << 10;
  return static_cast<int>(std::clamp(::sysconf(_SC_LEVEL2_CACHE_SIZE), kLeast, kMost));
}

// Failures are not errors: the connection works without these settings.
namespace {

std::optional<uid_t> user_at(int descriptor) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return peer.uid;
}

bool same_address(const Endpoint& a, const Endpoint& b) {
  if (a.family() != b.family()) return false;
  if (a.family() == AF_INET) {
    return as<sockaddr_in>(a).sin_addr.s_addr == as<sockaddr_in>(b).sin_addr.s_addr;
  }
  return IN6_ARE_ADDR_EQUAL(&as<sockaddr_in6>(a).sin6_addr, &as<sockaddr_in6>(b).sin6_addr);
}

}  // namespace

bool is_same_user(int descriptor) {
  return user_at(descriptor) == ::geteuid();
}

std::string user_of(int descriptor) {
  const auto user = user_at(descriptor);
  return user ? std::to_string(*user) : "?";
}

bool on_one_host(const Endpoint& here, const Endpoint& there) {
  return there.local() || same_address(here, there);
}

bool stays_on_host(int descriptor) {
  Endpoint here;
  Endpoint there;
  here.size = there.size = sizeof(here.storage);
  return ::getsockname(descriptor, here.get(), &here.size) == 0 &&
         ::getpeername(descriptor, there.get(), &there.size) == 0 && on_one_host(here, there);
}

void tune(int descriptor, int family, int buffer_bytes) {
  if (family != AF_UNIX) {
    const int on = 1;
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  }
  if (buffer_bytes > 0) {
    ::setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &buffer_bytes, sizeof(buffer_bytes));
    ::setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof(buffer_bytes));
  }
}

}  // namespace paceline
