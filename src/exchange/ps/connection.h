// The client end of the links to all servers of a run, for workers, the evaluator and the
// checkpoint writer. Connects, says hello, and turns a lost server into one sentence.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "exchange/chunks.h"
#include "net/link.h"
#include "net/loop.h"
#include "session/identity.h"
#include "session/protocol.pb.h"

namespace paceline {

struct PsAddress {
  std::vector<wire::ServerAt> servers;  // by index
  Identity self;                        // who connects
  std::uint32_t incarnation = 0;
  // Whether there are other servers by now: who waits for these gives up. Asked by the thread that
  // waits, when something happens on its loop.
  std::function<bool()> replaced{};
};

class PsConnection final : private LinkHandler {
 public:
  struct Events {
    // Which server has a chunk: what it says of another's is refused.
    std::function<std::uint32_t(std::uint32_t chunk)> server_of;
    // Where the payload of a PARAMS message goes.
    std::function<std::span<std::byte>(const wire::Params&, const FrameHeader&)> place;
    std::function<void(const wire::Params&, const FrameHeader&)> params;
    std::function<void(const wire::Ack&)> ack;
    std::function<void(const wire::Refusal&)> refusal;
  };

  // Connects to all servers before `deadline`, and waits until they have answered or the loop is
  // stopped. Throws CommError.
  PsConnection(Loop& loop, PsAddress address, Events events, TimePoint deadline);
  ~PsConnection() override;

  void send(std::uint32_t server, FrameHeader header, std::string_view meta, Payload payload = {},
            int priority = 0);

  // Runs the loop until done() or the deadline; returns whether done() held. Throws ServerLost,
  // also when the servers were replaced.
  bool wait(const std::function<bool()>& done, TimePoint deadline);

  std::string server_name(std::uint32_t server) const;  // "server0 (unix:/tmp/…/server0.sock)"
  std::string names_of(const std::set<std::uint32_t>& servers) const;  // "server0 (…) and …"
  LinkCounters counters() const;                                       // from any thread
  void close();

 private:
  std::span<std::byte> place(Link& link, const FrameHeader& header, std::string_view meta) override;
  void received(Link& link, const FrameHeader& header, std::string_view meta,
                std::span<std::byte> payload) override;
  void closed(Link& link, const std::string& reason) override;
  std::uint32_t index_of(const Link& link) const;
  wire::Params params_of(const Link& link, std::string_view meta) const;

  Loop& loop_;
  PsAddress address_;
  Events events_;
  std::vector<std::shared_ptr<Link>> links_;
  std::set<std::uint32_t> welcomed_;  // servers that have answered the hello
  std::optional<ServerLost> lost_;
  bool closing_ = false;
};

}  // namespace paceline
