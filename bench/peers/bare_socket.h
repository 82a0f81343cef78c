// Blocking sockets and nothing else: what the bare limits send and receive with.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>

namespace bench {

[[noreturn]] inline void fail(const char* what) {
  throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

inline void send_all(int socket, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) fail("send");
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
}

inline void receive_all(int socket, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::recv(socket, bytes.data(), bytes.size(), 0);
    if (got == 0) throw std::runtime_error("recv: the other process is gone");
    if (got < 0) fail("recv");
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace bench
