// Addresses as the kernel wants them.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <string>
#include <vector>

#include "net/socket.h"

namespace paceline {

inline constexpr std::size_t kLongestUnixPath = sizeof(sockaddr_un::sun_path) - 1;

struct Endpoint {
  sockaddr_storage storage{};
  socklen_t size = 0;

  int family() const { return storage.ss_family; }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  bool local() const;        // reachable from this host only
  std::string text() const;  // "127.0.0.1:4242", or the path
  std::uint16_t port() const;
};

// What a host name stands for, IPv4 first; one entry for a path. Throws CommError: the name
// is unknown, or the path is too long for a Unix socket.
std::vector<Endpoint> resolve(const Address& address);

// Closes a descriptor unless it is taken out.
class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  bool valid() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }
  int take();

 private:
  int descriptor_;
};

// A new non-blocking stream socket for this kind of endpoint; invalid, with errno, on failure.
Descriptor open_socket(const Endpoint& endpoint);

// Whether the other end of a Unix socket belongs to this process's user: the same effective user
// id. Root is no exception, on either end: it comes by TCP as all others do.
bool is_same_user(int descriptor);
// The user id there, for messages.
std::string user_of(int descriptor);

// Whether two ends of a connection, or of a connected socket, are on one host.
bool on_one_host(const Endpoint& here, const Endpoint& there);
bool stays_on_host(int descriptor);

// Settings of a connected socket.
void tune(int descriptor, int family, int buffer_bytes);

}  // namespace paceline
