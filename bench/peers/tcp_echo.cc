// Two processes and a TCP connection over loopback: one sends bytes, the other sends back
// what it receives, as it receives it. The limit of push + pull through parameter servers.
//
//   tcp_echo BYTES ROUNDS
//
// Prints {"seconds_per_round": …, "bytes_per_second": …}: the median round of BYTES there
// and back, and the bytes of both directions by that time.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <vector>

#include "peers/bare_socket.h"
#include "peers/child.h"

namespace {

using namespace bench;

constexpr std::size_t kPiece = std::size_t{1} << 20;  // most bytes of one send or recv
constexpr int kWarmUpRounds = 3;

sockaddr* generic(sockaddr_in& address) {
  return reinterpret_cast<sockaddr*>(&address);
}

// With buffers as large as those of our links: see cached_bytes() in net/link.h.
void set_up(int socket) {
  const long cache = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
  const int bytes = static_cast<int>(std::clamp(cache, 512L << 10, 2048L << 10));
  const int on = 1;
  if (::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) fail("TCP_NODELAY");
  for (const int buffer : {SO_SNDBUF, SO_RCVBUF}) {
    if (::setsockopt(socket, SOL_SOCKET, buffer, &bytes, sizeof bytes) != 0) {
      fail("a buffer's size");
    }
  }
}

// A socket that listens on a port the system chose; `address` receives it.
int listen_on_loopback(sockaddr_in& address) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (::bind(listener, generic(address), length) != 0 || ::listen(listener, 1) != 0 ||
      ::getsockname(listener, generic(address), &length) != 0) {
    fail("listen");
  }
  return listener;
}

void serve(int listener) {
  const int socket = ::accept(listener, nullptr, nullptr);
  if (socket < 0) fail("accept");
  set_up(socket);
  std::vector<std::byte> buffer(kPiece);
  while (true) {
    const ssize_t got = ::recv(socket, buffer.data(), buffer.size(), 0);
    if (got < 0) fail("recv");
    if (got == 0) return;
    send_all(socket, {buffer.data(), static_cast<std::size_t>(got)});
  }
}

// How far one direction of a round has come.
struct Direction {
  std::vector<std::byte>& bytes;
  std::size_t done = 0;

  bool complete() const { return done == bytes.size(); }
  std::byte* next() const { return bytes.data() + done; }
  std::size_t piece() const { return std::min(kPiece, bytes.size() - done); }
  void advance(ssize_t count) {
    if (count == 0) throw std::runtime_error("the server is gone");
    if (count < 0 && errno != EAGAIN) fail("send or recv");
    if (count > 0) done += static_cast<std::size_t>(count);
  }
};

// Sends and receives at the same time, so that neither process keeps the other waiting.
void round_trip(int socket, std::vector<std::byte>& out, std::vector<std::byte>& in) {
  Direction sent{out};
  Direction received{in};
  while (!received.complete()) {
    pollfd ready{socket, static_cast<short>(sent.complete() ? POLLIN : POLLIN | POLLOUT), 0};
    if (::poll(&ready, 1, -1) < 0) fail("poll");
    if ((ready.revents & POLLOUT) != 0) {
      sent.advance(::send(socket, sent.next(), sent.piece(), MSG_DONTWAIT | MSG_NOSIGNAL));
    }
    if ((ready.revents & (POLLIN | POLLHUP)) != 0) {
      received.advance(::recv(socket, received.next(), received.piece(), MSG_DONTWAIT));
    }
  }
}

// A message of one piece fits into the kernel's buffers or is read while it is sent:
// blocking calls are the fastest there is.
void small_round_trip(int socket, std::vector<std::byte>& out, std::vector<std::byte>& in) {
  send_all(socket, out);
  receive_all(socket, in);
}

void measure(int socket, std::size_t bytes, int rounds) {
  std::vector<std::byte> out(bytes, std::byte{1});
  std::vector<std::byte> in(bytes);
  std::vector<double> times;
  const auto trip = bytes <= kPiece / 8 ? small_round_trip : round_trip;
  for (int round = 0; round < kWarmUpRounds + rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    trip(socket, out, in);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    if (round >= kWarmUpRounds) times.push_back(taken.count());
  }
  const auto middle = times.begin() + rounds / 2;
  std::nth_element(times.begin(), middle, times.end());
  std::printf("{\"seconds_per_round\": %.9f, \"bytes_per_second\": %.0f}\n", *middle,
              2.0 * static_cast<double>(bytes) / *middle);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) throw std::invalid_argument("usage: tcp_echo BYTES ROUNDS");
  const std::size_t bytes = std::stoull(argv[1]);
  const int rounds = std::stoi(argv[2]);
  if (bytes == 0 || rounds < 1) throw std::invalid_argument("BYTES and ROUNDS are at least 1");
  sockaddr_in address{};
  const int listener = listen_on_loopback(address);
  Child server([&] { serve(listener); });
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  if (::connect(socket, generic(address), sizeof address) != 0) fail("connect");
  set_up(socket);
  measure(socket, bytes, rounds);
  ::close(socket);
  server.join();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "tcp_echo: %s\n", error.what());
  return 1;
}
