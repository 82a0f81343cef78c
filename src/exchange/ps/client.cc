#include "exchange/ps/client.h"

#include <set>

#include "base/error.h"

namespace paceline {

PsClient::PsClient(Loop& loop, const ChunkMap& map, const PsClientOptions& options,
                   PsAddress address, TellChief tell)
    : PsExchange(loop, options, std::move(tell)),
      map_(map),
      parameters_(Buffer::floats(map.floats())),
      ready_floats_(map.chunks()),
      sent_(map.chunks()) {
  connect(std::move(address));
}

std::span<std::byte> PsClient::place(const wire::Params& params, const FrameHeader& header) {
  if (params.chunk() >= map_.chunks()) throw FrameError("there is no such chunk");
  const Range floats = map_.floats_of(params.chunk());
  if (!fits(header.codec, header.payload_bytes, floats.size())) {
    throw FrameError("parameters of the wrong size");
  }
  WorkerCore::Arrival arrival{header.codec == Codec::kRaw, std::nullopt, clock_of(params)};
  if (has_blocks(header.codec)) arrival.since = params.since();
  const std::lock_guard lock(mutex_);
  if (!core_.arriving(params.chunk(), arrival)) {
    Aside& aside = aside_[params.chunk()];
    aside = {Buffer(header.payload_bytes), header.codec};
    return aside.values.bytes();
  }
  return std::as_writable_bytes(parameters_.as_floats().subspan(floats.begin, floats.size()));
}

void PsClient::arrived(const wire::Params& params, const FrameHeader& header) {
  const std::lock_guard lock(mutex_);
  carry_out(core_.arrived(params.chunk(), header.base_version));
}

std::optional<Share> PsClient::next() {
  const std::optional<Share> share = PsExchange::next();
  if (!share) return share;
  std::fill(ready_floats_.begin(), ready_floats_.end(), 0U);
  std::fill(sent_.begin(), sent_.end(), false);
  gradient_.reset();
  for (const auto& buffer : gradients_) {
    if (buffer.use_count() == 1) gradient_ = buffer;
  }
  if (!gradient_) {
    gradient_ = gradients_.emplace_back(std::make_shared<Buffer>(Buffer::floats(map_.floats())));
  }
  return share;
}

void PsClient::await(Range floats) {
  const Range chunks = map_.overlapping(floats);
  bool superseded = false;
  const auto arrived = [&] {
    const std::lock_guard lock(mutex_);
    superseded = core_.superseded();
    bool all = true;
    for (std::uint64_t chunk = chunks.begin; chunk < chunks.end; ++chunk) {
      all = all && core_.holds(static_cast<std::uint32_t>(chunk));
    }
    return superseded || all;
  };
  if (arrived() && !superseded) return;
  const Pump::Hold hold(pump_);
  {
    const std::lock_guard lock(mutex_);
    for (std::uint64_t chunk = chunks.begin; chunk < chunks.end; ++chunk) {
      carry_out(core_.needs(static_cast<std::uint32_t>(chunk)));
    }
  }
  if (!arrived()) {
    wait_for(arrived, [&] {
      const std::lock_guard lock(mutex_);
      std::set<std::uint32_t> owing;
      for (std::uint64_t chunk = chunks.begin; chunk < chunks.end; ++chunk) {
        const auto number = static_cast<std::uint32_t>(chunk);
        if (!core_.holds(number)) owing.insert(map_.server_of(number));
      }
      return fmt::format("{} to send the parameters for step {}", connection_->names_of(owing),
                         core_.current_step());
    });
  }
  if (superseded) {
    {
      const std::lock_guard lock(mutex_);
      core_.set_aside();
      install_aside();
    }
    throw ShareSetAside();
  }
}

// ---- pushing ---------------------------------------------------------------------------

// A chunk leaves when all its floats are final: except the first, which carries the loss
// and so leaves last, and all of them when the whole gradient must be looked at first.
void PsClient::ready(Range floats) {
  const bool whole_first = options_.core.mode != Mode::kSync && options_.rules.look();
  const Range chunks = map_.overlapping(floats);
  for (std::uint64_t at = chunks.begin; at < chunks.end; ++at) {
    const auto chunk = static_cast<std::uint32_t>(at);
    const Range part = map_.floats_of(chunk);
    const std::uint64_t begin = std::max(part.begin, floats.begin);
    const std::uint64_t end = std::min(part.end, floats.end);
    ready_floats_[chunk] += static_cast<std::uint32_t>(end - begin);
    if (ready_floats_[chunk] == part.size() && chunk != 0 && !whole_first) {
      push_gradient(chunk);
    }
  }
}

void PsClient::push_gradient(std::uint32_t chunk) {
  const Range part = map_.floats_of(chunk);
  const std::span<const float> values = gradient().subspan(part.begin, part.size());
  const auto blocks = options_.whole_tables ? std::nullopt : nonzero_blocks(values);
  push(chunk, encode({std::as_bytes(values), gradient_}, options_.wire, blocks));
}

void PsClient::finish(const Loss& loss, const TreeSum* tree) {
  const Pump::Hold hold(pump_);
  contribution_ = {loss.weight, loss.sum, loss.correct, loss.examples, 1, loss.predictions};
  if (tree == nullptr) contribution_.scale = own_scale(gradient(), loss);
  for (std::uint32_t chunk = map_.chunks(); chunk-- > 0;) {
    if (sent_[chunk]) continue;
    const Range part = map_.floats_of(chunk);
    if (tree == nullptr) {
      push_gradient(chunk);
      continue;
    }
    auto packed = std::make_shared<Buffer>(tree->nodes().size() * part.size() * sizeof(float));
    float* out = packed->as_floats().data();
    for (const auto& [begin, node] : tree->nodes()) {
      out = std::copy_n(node.second.data() + part.begin, part.size(), out);
    }
    const auto blocks = options_.whole_tables ? std::nullopt : nonzero_blocks(packed->as_floats());
    push(chunk, encode({packed->bytes(), packed}, WireFormat::kFloat, blocks));
  }
  const std::lock_guard lock(mutex_);
  install_aside();
}

void PsClient::push(std::uint32_t chunk, Encoded gradient) {
  sent_[chunk] = true;
  send_push(chunk, 0, gradient.codec, std::move(gradient.payload));
}

// Called with the state machine locked, when no share uses the parameters.
void PsClient::install_aside() {
  try {
    carry_out(core_.install_aside());
  } catch (const FrameError& error) {
    throw CommError("parameters were sent that cannot be read: {}", error.what());
  }
}

void PsClient::take_aside(const TakeAside& take) {
  const Aside aside = std::move(aside_.extract(take.chunk).mapped());
  if (!take.install) return;
  const Range floats = map_.floats_of(take.chunk);
  try {
    decode(aside.codec, aside.values.bytes(),
           parameters_.as_floats().subspan(floats.begin, floats.size()));
  } catch (const FrameError& error) {
    throw FrameError(connection_->server_name(map_.server_of(take.chunk)) + ": " + error.what());
  }
}

}  // namespace paceline
