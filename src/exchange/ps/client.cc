#include "exchange/ps/client.h"

#include <set>

#include "base/error.h"
#include "base/log.h"
#include "base/units.h"
#include "exchange/parsed.h"
#include "optim/sum.h"

namespace paceline {
namespace {

constexpr Duration kSilentWait = std::chrono::seconds(1);  // longer ones are shown to people

}  // namespace

PsClient::PsClient(Loop& loop, const ChunkMap& map, const PsClientOptions& options,
                   PsAddress address, TellChief tell)
    : loop_(loop),
      map_(map),
      options_(options),
      tell_(std::move(tell)),
      core_(options.core),
      parameters_(Buffer::floats(map.floats())),
      aside_(map.chunks()),
      ready_floats_(map.chunks()),
      sent_(map.chunks()),
      pump_(loop, [this](const std::string& reason) { abort(reason); }) {
  PsConnection::Events events;
  events.place = [this](const wire::Params& params, const FrameHeader& header) {
    if (params.chunk() >= map_.chunks()) throw FrameError("there is no such chunk");
    const Range floats = map_.floats_of(params.chunk());
    if (!fits(header.codec, header.payload_bytes, floats.size())) {
      throw FrameError("parameters of the wrong size");
    }
    const std::lock_guard lock(mutex_);
    aside_[params.chunk()] = header.codec != Codec::kRaw || !core_.may_land(params.chunk());
    if (aside_[params.chunk()]) {
      Staged& staged = staged_[params.chunk()];
      staged = {Buffer(header.payload_bytes), header.codec, params.since(), {}};
      return staged.values.bytes();
    }
    core_.landing(params.chunk());
    return std::as_writable_bytes(parameters_.as_floats().subspan(floats.begin, floats.size()));
  };
  events.params = [this](const wire::Params& params, const FrameHeader& header) {
    const std::lock_guard lock(mutex_);
    if (!aside_[params.chunk()]) {
      carry_out(core_.params(params.chunk(), header.base_version));
      return;
    }
    staged_.at(params.chunk()).version = header.base_version;
    if (core_.may_land(params.chunk())) install(params.chunk());
  };
  events.ack = [this](const wire::Ack& ack) {
    const std::lock_guard lock(mutex_);
    carry_out(core_.ack(ack));
  };
  events.refusal = [this](const wire::Refusal& refusal) {
    try {
      const std::lock_guard lock(mutex_);
      carry_out(core_.refused(refusal));
    } catch (const Error& error) {
      abort(error.what());
    }
  };
  connection_ = std::make_unique<PsConnection>(loop_, std::move(address), std::move(events),
                                               Clock::now() + options_.deadline);
  if (options_.pumped) pump_.start();
}

PsClient::~PsClient() = default;

// Called with the state machine locked.
void PsClient::carry_out(const WorkerCore::Actions& actions) {
  for (const WorkerAction& action : actions) {
    if (const auto* pull = std::get_if<SendPull>(&action)) {
      FrameHeader header;
      header.type = wire::PULL;
      wire::Pull message = pull->message;
      message.set_halves(options_.wire == WireFormat::kBf16);
      message.SerializeToString(&meta_);
      // With the priority of the chunk's pushes, so that it never overtakes one.
      const std::uint32_t chunk = pull->message.chunk();
      connection_->send(map_.server_of(chunk), header, meta_, {}, static_cast<int>(chunk));
    } else if (const auto* tell = std::get_if<WordForChief>(&action)) {
      const bool prepared = std::holds_alternative<wire::Prepared>(tell->message);
      std::visit(
          [&](const auto& message) {
            tell_({prepared ? wire::PREPARED : wire::COMMITTED, message.SerializeAsString()});
          },
          tell->message);
    }
  }
}

void PsClient::told(wire::Type type, std::string_view meta) {
  {
    const std::lock_guard lock(mutex_);
    if (type == wire::PLAN) {
      carry_out(core_.plan(parsed<wire::Plan>(meta)));
    } else if (type == wire::PREPARE) {
      carry_out(core_.prepare(parsed<wire::Prepare>(meta)));
    } else if (type == wire::LEASE) {
      carry_out(core_.lease(parsed<wire::Lease>(meta)));
    } else if (type == wire::STOP) {
      core_.stop();
    }
  }
  loop_.post([] {});  // the training thread may be waiting for exactly this
}

void PsClient::abort(const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    if (abort_reason_.empty()) abort_reason_ = reason;
  }
  aborted_ = true;
  loop_.post([] {});
}

void PsClient::throw_if_aborted() const {
  if (!aborted_) return;
  const std::lock_guard lock(mutex_);
  throw CommError("{}", abort_reason_);
}

// ---- waiting ---------------------------------------------------------------------------

// First without ceremony; a wait that is long enough for people to wonder is announced,
// and one that reaches the deadline is an error that says who waited for whom.
void PsClient::wait_for(const std::function<bool()>& done,
                        const std::function<std::string()>& what) {
  const TimePoint start = Clock::now();
  const auto over = [&] { return aborted_ || done(); };
  bool held = connection_->wait(over, start + std::min(kSilentWait, options_.deadline));
  if (!held) {
    {
      const std::lock_guard lock(wait_mutex_);
      waiting_for_ = what();
      waiting_since_ = start;
    }
    held = connection_->wait(over, start + options_.deadline);
    const std::lock_guard lock(wait_mutex_);
    waiting_for_.clear();
  }
  throw_if_aborted();
  if (!held) {
    throw CommError(
        "{} has waited {} for {}. See which role is silent in the run's logs, or "
        "raise --deadline",
        options_.name, format_duration(options_.deadline), what());
  }
}

PsClient::Wait PsClient::waiting() const {
  const std::lock_guard lock(wait_mutex_);
  if (waiting_for_.empty()) return {};
  return {waiting_for_, seconds(Clock::now() - waiting_since_)};
}

std::optional<Share> PsClient::next() {
  const Pump::Hold hold(pump_);
  Share share;
  WorkerCore::Next next = WorkerCore::Next::kWait;
  const auto try_next = [&] {
    const std::lock_guard lock(mutex_);
    next = core_.next(share);
    carry_out(core_.take_actions());
    return next != WorkerCore::Next::kWait;
  };
  if (!try_next()) {
    wait_for(try_next, [] { return std::string("the chief to hand out work"); });
  }
  if (next == WorkerCore::Next::kDone) return std::nullopt;
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

std::optional<Share> PsClient::after(const Share& share) const {
  const std::lock_guard lock(mutex_);
  return core_.after(share);
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
  push(chunk, encode({std::as_bytes(values), gradient_}, options_.wire, nonzero_blocks(values)));
}

// Async: the worker has the whole gradient of its push, so it sees to clipping and to
// values that are not finite itself (rule 8).
double PsClient::own_scale(const Loss& loss) const {
  if (options_.core.mode == Mode::kSync || !options_.rules.look()) return 1;
  const Norm norm = options_.rules.measure(gradient_->as_floats());
  const std::optional<double> scale = options_.rules.scale(norm, loss.weight);
  if (!scale) throw DivergedError(options_.name + ": the gradient");
  return *scale;
}

void PsClient::finish(const Loss& loss, const TreeSum* tree) {
  const Pump::Hold hold(pump_);
  contribution_ = {loss.weight, loss.sum, loss.correct, loss.examples, 1, loss.predictions};
  if (tree == nullptr) contribution_.scale = own_scale(loss);
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
    push(chunk, encode({packed->bytes(), packed}, WireFormat::kFloat,
                       nonzero_blocks(packed->as_floats())));
  }
  const std::lock_guard lock(mutex_);
  install_staged();
}

void PsClient::push(std::uint32_t chunk, Encoded gradient) {
  const Pump::Hold hold(pump_);
  sent_[chunk] = true;
  FrameHeader header;
  header.type = wire::PUSH;
  header.codec = gradient.codec;
  {
    const std::lock_guard lock(mutex_);
    const WorkerCore::Actions& actions = core_.push(chunk, contribution_);
    if (actions.empty()) return;
    const auto& push = std::get<SendPush>(actions.front());
    header.plan_epoch = push.plan_epoch;
    header.base_version = push.base_version;
    push.message.SerializeToString(&meta_);
  }
  connection_->send(map_.server_of(chunk), header, meta_, std::move(gradient.payload),
                    static_cast<int>(chunk));
}

void PsClient::drain() {
  const Pump::Hold hold(pump_);
  const auto quiet = [this] {
    const std::lock_guard lock(mutex_);
    return core_.quiet();
  };
  connection_->wait(quiet, Clock::now() + std::min<Duration>(options_.deadline, kSilentWait));
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
  carry_out(core_.params(chunk, *staged.version));
}

}  // namespace paceline
