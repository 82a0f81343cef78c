#include "exchange/ps/client.h"

#include <set>

#include "base/error.h"

namespace paceline {

PsClient::PsClient(Loop& loop, const ChunkMap& map, const PsClientOptions& options,
                   PsAddress address, TellChief tell)
    : PsExchange(loop, options, std::move(tell)),
      map_(map),
      parameters_(Buffer::floats(map.floats())),
      aside_(map.chunks()),
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
  const std::lock_guard lock(mutex_);
  aside_[params.chunk()] = header.codec != Codec::kRaw || !core_.may_land(params.chunk());
  if (aside_[params.chunk()]) {
    Staged& staged = staged_[params.chunk()];
    staged = {Buffer(header.payload_bytes), header.codec, params.since(), clock_of(params), {}};
    return staged.values.bytes();
  }
  core_.landing(params.chunk());
  return std::as_writable_bytes(parameters_.as_floats().subspan(floats.begin, floats.size()));
}

void PsClient::arrived(const wire::Params& params, const FrameHeader& header) {
  const std::lock_guard lock(mutex_);
  if (!aside_[params.chunk()]) {
    carry_out(core_.params(params.chunk(), header.base_version, clock_of(params)));
    return;
  }
  staged_.at(params.chunk()).version = header.base_version;
  if (core_.may_land(params.chunk())) install(params.chunk());
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
      install_staged();
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
  install_staged();
}

void PsClient::push(std::uint32_t chunk, Encoded gradient) {
  sent_[chunk] = true;
  send_push(chunk, 0, gradient.codec, std::move(gradient.payload));
}

// Called with the state machine locked, when no share uses the parameters. What is still
// arriving is installed when it is there.
void PsClient::install_staged() {
  std::vector<std::uint32_t> arrived;
  for (const auto& [chunk, staged] : staged_) {
    if (staged.version) arrived.push_back(chunk);
  }
  for (const std::uint32_t chunk : arrived) {
    try {
      install(chunk);
    } catch (const FrameError& error) {
      throw CommError("{} sent parameters that cannot be read: {}",
                      connection_->server_name(map_.server_of(chunk)), error.what());
    }
  }
}

void PsClient::install(std::uint32_t chunk) {
  const Staged staged = std::move(staged_.extract(chunk).mapped());
  const Range floats = map_.floats_of(chunk);
  const auto values = parameters_.as_floats().subspan(floats.begin, floats.size());
  const auto here = core_.version(chunk);
  if (!has_blocks(staged.codec) || here == staged.since) {
    decode(staged.codec, staged.values.bytes(), values);
  } else if (here != staged.version) {  // a share that was pushed twice is answered twice
    return carry_out(core_.missed(chunk, *staged.version));
  }
  carry_out(core_.params(chunk, *staged.version, staged.clock));
}

}  // namespace paceline
