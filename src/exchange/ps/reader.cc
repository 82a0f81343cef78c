#include "exchange/ps/reader.h"

#include "base/error.h"

namespace paceline {

PsReader::PsReader(Loop& loop, const ChunkMap& map, PsAddress address, Duration deadline)
    : map_(map), name_(address.self.name), chunks_(map.chunks()) {
  PsConnection::Events events;
  events.server_of = [this](std::uint32_t chunk) { return map_.server_of(chunk); };
  events.place = [this](const wire::Params& params, const FrameHeader& header) {
    if (params.chunk() >= chunks_.size()) throw FrameError("there is no such chunk");
    if (header.codec != Codec::kRaw ||
        header.payload_bytes != map_.floats_of(params.chunk()).size() * sizeof(float) * vectors_) {
      throw FrameError(fmt::format("chunk {} has the wrong size or codec", params.chunk()));
    }
    chunks_[params.chunk()].payload = Buffer(header.payload_bytes);
    return chunks_[params.chunk()].payload.bytes();
  };
  events.params = [this](const wire::Params& params, const FrameHeader& header) {
    if (header.base_version != version_) return;  // the late answer to a read that was given up
    if (!std::exchange(chunks_[params.chunk()].done, true)) ++arrived_;
  };
  events.ack = [](const wire::Ack&) {};
  events.refusal = [this](const wire::Refusal& refusal) {
    refused_ =
        fmt::format("{} refuses version {} of chunk {}: {}",
                    connection_->server_name(map_.server_of(refusal.chunk())), refusal.step(),
                    refusal.chunk(), wire::Refusal::Reason_Name(refusal.reason()));
  };
  connection_ = std::make_unique<PsConnection>(loop, std::move(address), std::move(events),
                                               Clock::now() + deadline);
}

std::string PsReader::owing() const {
  std::set<std::uint32_t> servers;
  for (std::uint32_t chunk = 0; chunk < map_.chunks(); ++chunk) {
    if (!chunks_[chunk].done) servers.insert(map_.server_of(chunk));
  }
  return connection_->names_of(servers);
}

void PsReader::read(std::uint64_t version, std::span<float> values, std::span<float> state) {
  version_ = version;
  vectors_ = 1 + state.size() / map_.floats();
  arrived_ = 0;
  refused_.clear();
  for (std::uint32_t chunk = 0; chunk < map_.chunks(); ++chunk) {
    chunks_[chunk].done = false;
    wire::Pull pull;
    pull.set_chunk(chunk);
    pull.set_version(version);
    pull.set_state(!state.empty());
    FrameHeader header;
    header.type = wire::PULL;
    connection_->send(map_.server_of(chunk), header, pull.SerializeAsString());
  }
  const auto done = [this] { return arrived_ == map_.chunks() || !refused_.empty(); };
  if (!connection_->wait(done, TimePoint::max())) {
    throw CommError("{} no longer waits for {} to send version {}", name_, owing(), version);
  }
  if (!refused_.empty()) throw CommError("{}: {}", name_, refused_);
  for (std::uint32_t chunk = 0; chunk < map_.chunks(); ++chunk) {
    const Range floats = map_.floats_of(chunk);
    const std::span<const float> payload = std::as_const(chunks_[chunk].payload).as_floats();
    for (std::uint64_t vector = 0; vector < vectors_; ++vector) {
      float* out = vector == 0 ? values.data() : state.data() + (vector - 1) * map_.floats();
      std::copy_n(payload.data() + vector * floats.size(), floats.size(), out + floats.begin);
    }
  }
}

}  // namespace paceline
