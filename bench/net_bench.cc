// What a link costs against bare sockets that do the same: round trips of 31 KB, and 32 MB
// there and back in messages of 1 MB, between two processes, over Unix and TCP sockets.
// Each figure is the best of many slices of a few rounds: what the machine does besides
// makes slices slower, never faster.
//   net_bench [spin in µs = 100] [socket buffer of the link, 0 for the usual] [checksums]
// With the third word messages have the checksum that they have between hosts.
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "base/error.h"
#include "net/endpoint.h"
#include "net/socket.h"

namespace paceline {
namespace {

struct Job {
  std::size_t message;  // bytes
  int burst;            // messages one way before the other answers with as many
  int rounds;           // in a slice
  int slices;
};

const Job kPingPong{31'400, 1, 20, 1000};
const Job kBulk{std::size_t{1} << 20, 32, 1, 60};
const std::string kMeta(24, 'm');

struct Setup {
  Address address;
  Duration spin;
  int socket_buffer;
  bool checksums;
};

// ---- Bare sockets: a header, metadata and payload like a link's, blocking or spinning.

struct Bare {
  int socket;
  bool spins;

  void wait_or_fail(ssize_t result) const {
    if (result > 0) return;
    if (result == 0 || errno != EAGAIN) std::_Exit(1);
    ::sched_yield();
  }
  void send(Buffer& head, Buffer& payload) const { move_all(head, payload, ::sendmsg); }
  void receive(Buffer& head, Buffer& payload) const { move_all(head, payload, ::recvmsg); }

  // Sends or receives all of both.
  template <typename Call>
  void move_all(Buffer& head, Buffer& payload, const Call& call) const {
    const std::size_t total = head.size() + payload.size();
    for (std::size_t done = 0; done < total;) {
      iovec pieces[2] = {{head.data() + done, head.size() - std::min(done, head.size())},
                         {payload.data(), payload.size()}};
      msghdr message{};
      message.msg_iov = pieces;
      message.msg_iovlen = 2;
      if (done >= head.size()) {
        const std::size_t skip = done - head.size();
        pieces[0] = {payload.data() + skip, payload.size() - skip};
        message.msg_iovlen = 1;
      }
      const ssize_t moved = call(socket, &message, spins ? MSG_DONTWAIT : 0);
      wait_or_fail(moved);
      if (moved > 0) done += static_cast<std::size_t>(moved);
    }
  }
};

// The quickest slice, when `round` is done as often as the job wants.
template <typename Round>
Duration quickest(const Job& job, Round round) {
  Duration best = Duration::max();
  for (int slice = 0; slice < job.slices; ++slice) {
    const TimePoint start = Clock::now();
    for (int i = 0; i < job.rounds; ++i) round();
    best = std::min(best, Clock::now() - start);
  }
  return best;
}

Duration run_bare(const Bare& bare, const Job& job, bool asks) {
  Buffer head = Buffer::zeros(kHeaderBytes + kMeta.size());
  Buffer out = Buffer::zeros(job.message);
  Buffer in = Buffer::zeros(job.message);
  return quickest(job, [&] {
    for (int turn = 0; turn < 2; ++turn) {
      for (int i = 0; i < job.burst; ++i) {
        if (asks == (turn == 0)) {
          bare.send(head, out);
        } else {
          bare.receive(head, in);
        }
      }
    }
  });
}

int bare_socket(const Setup& setup, bool listens) {
  const Endpoint endpoint = resolve(setup.address).front();
  int descriptor = ::socket(endpoint.family(), SOCK_STREAM, 0);
  if (listens) {
    const int on = 1;
    ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    PACELINE_CHECK(::bind(descriptor, endpoint.get(), endpoint.size) == 0);
    ::listen(descriptor, 1);
    descriptor = ::accept(descriptor, nullptr, nullptr);
  } else {
    while (::connect(descriptor, endpoint.get(), endpoint.size) != 0) ::usleep(1000);
  }
  tune(descriptor, endpoint.family(), 0);
  return descriptor;
}

// ---- The same over a link.

class Peer : public LinkHandler {
 public:
  Peer(const Job& job, bool asks) : job_(job), asks_(asks) {}

  std::span<std::byte> place(Link&, const FrameHeader&, std::string_view) override {
    return in_.bytes();
  }
  void received(Link& link, const FrameHeader&, std::string_view, std::span<std::byte>) override {
    if (++received_ % job_.burst != 0) return;
    ++rounds_;
    if (!asks_) send(link);
  }
  void closed(Link&, const std::string&) override { gone_ = true; }

  void send(Link& link) {
    FrameHeader header;
    header.type = kFirstApplicationType;
    for (int i = 0; i < job_.burst; ++i) link.send(header, kMeta, {out_.bytes(), nullptr});
  }
  int rounds() const { return rounds_; }
  bool gone() const { return gone_; }

 private:
  Job job_;
  bool asks_;
  Buffer in_ = Buffer::zeros(job_.message);
  Buffer out_ = Buffer::zeros(job_.message);
  int received_ = 0;
  int rounds_ = 0;
  bool gone_ = false;
};

void answer_links(const Setup& setup, const Job& job) {
  Loop loop(setup.spin);
  LinkOptions options;
  options.socket_buffer = setup.socket_buffer;
  options.checksums = setup.checksums;
  Peer peer(job, false);
  std::shared_ptr<Link> kept;
  Listener listener(loop, setup.address, options, [&](std::shared_ptr<Link> link) {
    kept = std::move(link);
    return &peer;
  });
  loop.run_until([&] { return peer.gone(); }, TimePoint::max());
}

Duration ask_links(const Setup& setup, const Job& job) {
  Loop loop(setup.spin);
  LinkOptions options;
  options.socket_buffer = setup.socket_buffer;
  options.checksums = setup.checksums;
  Peer peer(job, true);
  const TimePoint limit = Clock::now() + std::chrono::seconds(5);
  const auto link = connect(loop, setup.address, options, peer, limit);
  int round = 0;
  const auto done = [&] { return peer.rounds() >= round || peer.gone(); };
  return quickest(job, [&] {
    peer.send(*link);
    ++round;
    PACELINE_CHECK(loop.run_until(done, TimePoint::max()) && !peer.gone());
  });
}

// ---- One measurement: a child that answers, and this process that asks.

double measure(const Setup& setup, const Job& job, std::optional<bool> bare_spins) {
  std::filesystem::remove(setup.address.host);
  const pid_t child = ::fork();
  if (child == 0) {
    if (bare_spins) {
      run_bare({bare_socket(setup, true), *bare_spins}, job, false);
    } else {
      answer_links(setup, job);
    }
    std::_Exit(0);
  }
  Duration taken;
  if (bare_spins) {
    const Bare bare{bare_socket(setup, false), *bare_spins};
    taken = run_bare(bare, job, true);
    ::close(bare.socket);
  } else {
    taken = ask_links(setup, job);
  }
  ::waitpid(child, nullptr, 0);
  return seconds(taken) / job.rounds;
}

void compare(const std::string& name, const Setup& setup) {
  for (int repeat = 0; repeat < 3; ++repeat) {
    const double blocking = measure(setup, kPingPong, false) * 1e6;
    const double spinning = measure(setup, kPingPong, true) * 1e6;
    const double link = measure(setup, kPingPong, std::nullopt) * 1e6;
    fmt::print(
        "{} 31 kB round trip: bare blocking {:.1f} µs, bare spinning {:.1f} µs, link {:.1f} "
        "µs: {:.2f} and {:.2f} of bare\n",
        name, blocking, spinning, link, link / blocking, link / spinning);
  }
  for (int repeat = 0; repeat < 3; ++repeat) {
    const double bytes = 2.0 * kBulk.burst * static_cast<double>(kBulk.message);
    const double bare = bytes / measure(setup, kBulk, false) * 1e-9;
    const double link = bytes / measure(setup, kBulk, std::nullopt) * 1e-9;
    fmt::print("{} 32 MB both ways: bare {:.2f} GB/s, link {:.2f} GB/s: {:.2f} of bare\n", name,
               bare, link, link / bare);
  }
}

}  // namespace
}  // namespace paceline

int main(int count, char** arguments) {
  using namespace paceline;
  const auto spin = std::chrono::microseconds(count > 1 ? std::atoi(arguments[1]) : 100);
  const int given = count > 2 ? std::atoi(arguments[2]) : 0;
  const int buffer = given > 0 ? given : LinkOptions().socket_buffer;
  const bool checksums = count > 3;
  const auto path = std::filesystem::temp_directory_path() / fmt::format("net{}.sock", ::getpid());
  compare("unix", {Address::parse("unix:" + path.string()), spin, buffer, checksums});
  compare("tcp ", {Address::parse("tcp:127.0.0.1:47613"), spin, buffer, checksums});
  std::filesystem::remove(path);
}
