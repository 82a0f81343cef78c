#include "exchange/ps/pinned_server.h"

#include "base/error.h"
#include "session/hello.h"
#include "session/message.h"
#include "session/protocol.pb.h"

namespace paceline {

class PinnedServer::Client final : public LinkHandler {
 public:
  Client(PinnedServer& server, std::uint64_t id, std::shared_ptr<Link> link)
      : server_(server), id_(id), link_(std::move(link)) {}

  const Link& link() const { return *link_; }

  std::span<std::byte> place(Link&, const FrameHeader&, std::string_view) override {
    throw FrameError("nothing can be pushed here");
  }
  void received(Link&, const FrameHeader& header, std::string_view meta,
                std::span<std::byte>) override {
    if (header.type == kHelloType) {
      greeted_ = answer_hello(*link_, meta, server_.digest_, "the keeper").has_value();
      return;
    }
    if (!greeted_ || header.type != wire::PULL) throw FrameError("only pulls are answered here");
    const auto pull = parsed<wire::Pull>(meta);
    server_.pull(*link_, pull.chunk(), pull.version(), pull.state());
  }
  void closed(Link&, const std::string&) override { server_.gone(id_); }

 private:
  PinnedServer& server_;
  std::uint64_t id_;
  std::shared_ptr<Link> link_;
  bool greeted_ = false;
};

PinnedServer::PinnedServer(const ChunkMap& chunks, std::string digest)
    : chunks_(chunks), digest_(std::move(digest)) {}

PinnedServer::~PinnedServer() = default;

LinkHandler* PinnedServer::accept(std::shared_ptr<Link> link) {
  departed_.clear();
  const std::uint64_t id = ++last_client_;
  return clients_.emplace(id, std::make_unique<Client>(*this, id, std::move(link)))
      .first->second.get();
}

void PinnedServer::gone(std::uint64_t id) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return;
  counted_ += found->second->link().counters();
  departed_.push_back(std::move(found->second));  // it is still being called
  clients_.erase(found);
}

void PinnedServer::pin(std::uint64_t version, std::shared_ptr<const PinnedVersion> content) {
  pinned_[version] = std::move(content);
}

void PinnedServer::pull(Link& link, std::uint32_t chunk, std::uint64_t version, bool state) {
  if (chunk >= chunks_.chunks()) throw FrameError("there is no such chunk");
  FrameHeader header;
  const auto found = pinned_.find(version);
  if (found == pinned_.end()) {
    wire::Refusal refusal;
    refusal.set_chunk(chunk);
    refusal.set_step(version);
    refusal.set_reason(wire::Refusal::GONE);
    header.type = wire::REFUSAL;
    return link.send(header, refusal.SerializeAsString());
  }
  const Range floats = chunks_.floats_of(chunk);
  const auto values = found->second->values.as_floats();
  const auto states = state ? found->second->state.as_floats() : std::span<const float>();
  // Without state the bytes are sent from where they lie.
  Payload payload{std::as_bytes(values.subspan(floats.begin, floats.size())), found->second};
  if (!states.empty()) {
    const std::size_t vectors = 1 + states.size() / values.size();
    auto joined = std::make_shared<Buffer>(vectors * floats.size() * sizeof(float));
    auto out = joined->as_floats();
    for (std::size_t vector = 0; vector < vectors; ++vector) {
      const auto from = vector == 0 ? values : states.subspan((vector - 1) * values.size());
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(floats.begin), floats.size(),
                  out.begin() + static_cast<std::ptrdiff_t>(vector * floats.size()));
    }
    payload = {std::as_const(*joined).bytes(), joined};
  }
  wire::Params params;
  params.set_chunk(chunk);
  params.set_state(state);
  header.type = wire::PARAMS;
  header.base_version = version;
  link.send(header, params.SerializeAsString(), std::move(payload), static_cast<int>(chunk));
}

LinkCounters PinnedServer::counters() const {
  LinkCounters total = counted_;
  for (const auto& [id, client] : clients_) total += client->link().counters();
  return total;
}

}  // namespace paceline
