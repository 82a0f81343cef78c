#include "exchange/ps/server.h"

#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "exchange/codec.h"
#include "session/failure.h"
#include "session/hello.h"
#include "session/message.h"

namespace paceline {

// One connection: knows who speaks, and where what is arriving lands.
class PsServer::Client final : public LinkHandler {
 public:
  Client(PsServer& server, ClientId id, std::shared_ptr<Link> link)
      : server_(server), id_(id), link_(std::move(link)) {}

  Link& link() { return *link_; }
  std::uint32_t incarnation() const { return incarnation_; }
  bool wants_halves() const { return wants_halves_; }

  std::span<std::byte> place(Link&, const FrameHeader& header, std::string_view meta) override {
    if (!greeted_ || (header.type != wire::PUSH && header.type != wire::PULL)) {
      throw FrameError("unexpected payload");
    }
    if (header.type == wire::PUSH) {
      push_ = parsed<wire::Push>(meta);
      const Range tiles{push_.tiles().begin(), push_.tiles().end()};
      if (tiles.begin > tiles.end || tiles.size() > 1'000'000) {
        throw FrameError(fmt::format("tiles {}–{}", tiles.begin, tiles.end));
      }
      landing_ = server_.holding_->landing(id_, push_, tiles);
      if (!fits(header.codec, header.payload_bytes, landing_.values->size() / sizeof(float))) {
        throw FrameError(fmt::format("a push of {} bytes does not fit chunk {}",
                                     header.payload_bytes, push_.chunk()));
      }
      if (header.codec == Codec::kRaw) return landing_.values->bytes();
    }
    if (header.type == wire::PULL && header.payload_bytes > server_.holding_->most_asked()) {
      throw FrameError(fmt::format("a read of {} bytes", header.payload_bytes));
    }
    arriving_ = Buffer(header.payload_bytes);
    return arriving_.bytes();
  }

  void received(Link&, const FrameHeader& header, std::string_view meta,
                std::span<std::byte> payload) override {
    if (header.type == kHelloType) return greet(meta);
    if (!greeted_) throw FrameError("the first message is not a hello");
    if (known_ && header.incarnation != incarnation_) {
      throw FrameError(
          fmt::format("incarnation {} speaks on the line of {}", header.incarnation, incarnation_));
    }
    known_ = true;
    incarnation_ = header.incarnation;
    const auto work = [&] { serve(header, meta, payload); };
    if (!server_.timed_ || who_ != "worker") return server_.guarded(work);
    const double began = cpu_seconds_of_this_thread();
    server_.guarded(work);
    server_.serving_ += cpu_seconds_of_this_thread() - began;
  }

  void closed(Link&, const std::string& reason) override {
    spdlog::info("{} ({}) has left: {}", who_.empty() ? "someone" : who_, link_->peer(), reason);
    server_.gone(id_);
  }

 private:
  void serve(const FrameHeader& header, std::string_view meta, std::span<std::byte> payload) {
    if (header.type == wire::PUSH) {
      // None has no payload but those to a server of whose rows a share touches none.
      if (payload.empty()) place(*link_, header, meta);
      if (header.codec != Codec::kRaw) {
        if (has_blocks(header.codec)) {
          std::ranges::fill(landing_.values->as_floats(), 0.0F);  // the others
        }
        decode(header.codec, arriving_.bytes(), landing_.values->as_floats());
      }
      const Sender sender{id_, header.incarnation, header.assignment_epoch, header.base_version};
      const Gradient gradient = std::exchange(landing_, {});
      server_.carry_out(server_.core_.push(sender, push_), &push_, gradient);
    } else if (header.type == wire::PULL) {
      const auto pull = parsed<wire::Pull>(meta);
      wants_halves_ = pull.halves();
      server_.holding_->asked(id_, pull, payload);
      server_.carry_out(server_.core_.pull(id_, header.incarnation, pull), nullptr, {});
    } else {
      throw FrameError(fmt::format("a server does not know message type {}", header.type));
    }
  }

  void greet(std::string_view meta) {
    const auto hello = answer_hello(*link_, meta, server_.digest_, "this server");
    greeted_ = hello.has_value();
    if (hello) who_ = hello->role;
  }

  PsServer& server_;
  ClientId id_;
  std::shared_ptr<Link> link_;
  std::string who_;
  bool greeted_ = false;
  std::uint32_t incarnation_ = 0;
  bool known_ = false;  // the incarnation is
  wire::Push push_;
  Gradient landing_;
  Buffer arriving_;  // what must be decoded
  bool wants_halves_ = false;
};

PsServer::PsServer(const ServerCore::Options& options, std::unique_ptr<Holding> holding,
                   std::string digest, TellChief tell, std::function<void()> failed)
    : core_(options),
      timed_(options.rows),
      holding_(std::move(holding)),
      digest_(std::move(digest)),
      tell_(std::move(tell)),
      failed_(std::move(failed)) {}

PsServer::~PsServer() = default;

// What a client sends may be wrong (FrameError): its link is closed. Anything else that goes wrong
// while its message is handled is this server's own failure.
void PsServer::guarded(const std::function<void()>& work) {
  try {
    work();
  } catch (const FrameError&) {
    throw;
  } catch (const std::exception&) {
    failed_();
  }
}

LinkHandler* PsServer::accept(std::shared_ptr<Link> link) {
  departed_.clear();
  const ClientId id = ++last_client_;
  return clients_.emplace(id, std::make_unique<Client>(*this, id, std::move(link)))
      .first->second.get();
}

void PsServer::gone(ClientId id) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return;
  const std::uint32_t incarnation = found->second->incarnation();
  counted_ += found->second->link().counters();
  departed_.push_back(std::move(found->second));  // it is still being called
  clients_.erase(found);
  holding_->gone(id);
  carry_out(core_.client_gone(id, incarnation), nullptr, {});
}

void PsServer::carry_out(const ServerCore::Actions& actions, const wire::Push* push,
                         const Gradient& gradient) {
  std::vector<CheckChunk> checks;
  std::optional<std::uint64_t> measure;
  for (const ServerAction& action : actions) {
    if (const auto* add = std::get_if<Accumulate>(&action)) {
      holding_->accumulate(add->chunk, add->first, {push->tiles().begin(), push->tiles().end()},
                           gradient);
    } else if (const auto* apply = std::get_if<Apply>(&action)) {
      const bool at_once = push != nullptr && core_.applies_at_once();
      holding_->apply(*apply, at_once ? gradient : Gradient());
    } else if (const auto* params = std::get_if<SendParams>(&action)) {
      send_params(*params);
    } else if (const auto* check = std::get_if<CheckChunk>(&action)) {
      checks.push_back(*check);
    } else if (const auto* step = std::get_if<MeasureStep>(&action)) {
      measure = step->step;
    } else if (const auto* pin = std::get_if<PinVersion>(&action)) {
      holding_->pin(pin->version);
    } else if (const auto* release = std::get_if<ReleaseVersion>(&action)) {
      holding_->release(release->version);
    } else if (const auto* reply = std::get_if<SendToClient>(&action)) {
      const auto client = clients_.find(reply->client);
      if (client == clients_.end()) continue;
      FrameHeader header;
      const bool ack = std::holds_alternative<wire::Ack>(reply->message);
      header.type = ack ? wire::ACK : wire::REFUSAL;
      std::visit([&](const auto& message) { message.SerializeToString(&meta_); }, reply->message);
      client->second->link().send(header, meta_);
    } else if (const auto* message = std::get_if<SendToChief>(&action)) {
      tell(*message);
    } else if (const auto* fail = std::get_if<FailRun>(&action)) {
      tell_(stop_word(fail->reason));
    }
  }
  for (const auto& [chunk, step] : checks) {
    carry_out(core_.checked(chunk, step, holding_->is_finite(chunk, step)), push, gradient);
  }
  if (measure) {
    const Norm norm = holding_->measure(*measure);
    carry_out(core_.measured(*measure, norm.sum_of_squares, norm.finite), push, gradient);
  }
}

void PsServer::send_params(const SendParams& send) {
  const auto client = clients_.find(send.client);
  if (client == clients_.end()) return;
  FrameHeader header;
  header.type = wire::PARAMS;
  header.base_version = send.version;
  Holding::Answer answer = holding_->answer(send);
  Encoded values = encode(std::move(answer.values),
                          client->second->wants_halves() ? WireFormat::kBf16 : WireFormat::kFloat,
                          answer.changed);
  header.codec = values.codec;
  wire::Params params;
  params.set_chunk(send.chunk);
  params.set_state(send.state);
  params.set_since(send.since.value_or(0));
  params.set_ticket(send.ticket);
  if (send.clock) params.set_clock(*send.clock);
  params.SerializeToString(&meta_);
  client->second->link().send(header, meta_, std::move(values.payload),
                              static_cast<int>(send.chunk));
}

void PsServer::tell(const SendToChief& message) {
  struct Typed {
    wire::Type operator()(const wire::Complete&) const { return wire::COMPLETE; }
    wire::Type operator()(const wire::Fenced&) const { return wire::FENCED; }
    wire::Type operator()(const wire::Scalars&) const { return wire::SCALARS; }
    wire::Type operator()(const wire::Stopped&) const { return wire::STOPPED; }
  };
  std::visit(
      [&](const auto& content) {
        tell_({Typed()(content), content.SerializeAsString()});
      },
      message.message);
}

void PsServer::told(wire::Type type, std::string_view meta) {
  if (type == wire::FENCE) {
    carry_out(core_.fence(parsed<wire::Fence>(meta)), nullptr, {});
  } else if (type == wire::PIN) {
    carry_out(core_.pin(parsed<wire::Pin>(meta).version()), nullptr, {});
  } else if (type == wire::UNPIN) {
    carry_out(core_.unpin(parsed<wire::Unpin>(meta).version()), nullptr, {});
  } else if (type == wire::DECISION) {
    carry_out(core_.decision(parsed<wire::Decision>(meta)), nullptr, {});
  } else if (type == wire::STOP) {
    carry_out(core_.stop(), nullptr, {});
  }
}

void PsServer::report() {
  carry_out(core_.report(), nullptr, {});
}

LinkCounters PsServer::counters() const {
  LinkCounters total = counted_;
  for (const auto& [id, client] : clients_) total += client->link().counters();
  return total;
}

}  // namespace paceline
