#include "exchange/ps/ps_exchange.h"

#include "base/error.h"
#include "optim/sum.h"
#include "session/message.h"

namespace paceline {
namespace {

constexpr Duration kSilentWait = std::chrono::seconds(1);  // longer ones are shown to people

}  // namespace

PsExchange::PsExchange(Loop& loop, const PsClientOptions& options, TellChief tell)
    : loop_(loop),
      options_(options),
      core_(options.core),
      tell_(std::move(tell)),
      pump_(loop, [this](const Error& reason) { abort(reason); }) {}

PsExchange::~PsExchange() = default;

void PsExchange::connect(PsAddress address) {
  PsConnection::Events events;
  events.server_of = [this](std::uint32_t chunk) { return server_of(chunk); };
  events.place = [this](const wire::Params& params, const FrameHeader& header) {
    return place(params, header);
  };
  events.params = [this](const wire::Params& params, const FrameHeader& header) {
    arrived(params, header);
  };
  events.ack = [this](const wire::Ack& ack) {
    const std::lock_guard lock(mutex_);
    carry_out(core_.ack(ack));
  };
  events.refusal = [this](const wire::Refusal& refusal) {
    try {
      const std::lock_guard lock(mutex_);
      carry_out(core_.refused(refusal));
      gone(refusal);
    } catch (const Error& error) {
      abort(error);
    }
  };
  connection_ = std::make_unique<PsConnection>(loop_, std::move(address), std::move(events),
                                               Clock::now() + options_.deadline);
  if (options_.pumped) pump_.start();
}

void PsExchange::carry_out(const WorkerCore::Actions& actions) {
  for (const WorkerAction& action : actions) {
    if (const auto* pull = std::get_if<SendPull>(&action)) {
      send_pull(pull->message);
    } else if (const auto* aside = std::get_if<TakeAside>(&action)) {
      take_aside(*aside);
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

// With the priority of the chunk's pushes, so that it never overtakes one.
void PsExchange::send_pull(wire::Pull pull, Payload payload) {
  FrameHeader header;
  header.type = wire::PULL;
  pull.set_halves(options_.wire == WireFormat::kBf16);
  pull.SerializeToString(&meta_);
  connection_->send(server_of(pull.chunk()), header, meta_, std::move(payload),
                    static_cast<int>(pull.chunk()));
}

bool PsExchange::send_push(std::uint32_t chunk, std::uint64_t ticket, Codec codec,
                           Payload payload) {
  const Pump::Hold hold(pump_);
  FrameHeader header;
  header.type = wire::PUSH;
  header.codec = codec;
  std::string meta;
  {
    const std::lock_guard lock(mutex_);
    const WorkerCore::Actions& actions = core_.push(chunk, contribution_);
    if (actions.empty()) return false;
    SendPush push = std::get<SendPush>(actions.front());
    push.message.set_ticket(ticket);
    header.assignment_epoch = push.assignment_epoch;
    header.base_version = push.base_version;
    push.message.SerializeToString(&meta);
  }
  connection_->send(server_of(chunk), header, meta, std::move(payload), static_cast<int>(chunk));
  return true;
}

void PsExchange::told(wire::Type type, std::string_view meta) {
  {
    const std::lock_guard lock(mutex_);
    if (type == wire::ASSIGNMENT) {
      carry_out(core_.assignment(parsed<wire::Assignment>(meta)));
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

void PsExchange::abort(const Error& reason) {
  {
    const std::lock_guard lock(mutex_);
    if (!abort_reason_) abort_reason_ = reason;
  }
  aborted_ = true;
  loop_.post([] {});
}

void PsExchange::throw_if_aborted() const {
  if (!aborted_) return;
  const std::lock_guard lock(mutex_);
  throw Error(*abort_reason_);
}

// ---- waiting ---------------------------------------------------------------------------

// First without ceremony; a wait that is long enough for people to wonder is announced.
void PsExchange::wait_for(const std::function<bool()>& done,
                          const std::function<std::string()>& what) {
  const TimePoint start = Clock::now();
  const auto over = [&] { return aborted_ || done(); };
  if (!connection_->wait(over, start + kSilentWait)) {
    {
      const std::lock_guard lock(wait_mutex_);
      waiting_for_ = what();
      waiting_since_ = start;
    }
    connection_->wait(over, TimePoint::max());
    const std::lock_guard lock(wait_mutex_);
    waiting_for_.clear();
  }
  throw_if_aborted();
}

PsExchange::Wait PsExchange::waiting() const {
  const std::lock_guard lock(wait_mutex_);
  if (waiting_for_.empty()) return {};
  return {waiting_for_, seconds(Clock::now() - waiting_since_)};
}

std::optional<Share> PsExchange::next() {
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
  return share;
}

std::optional<Share> PsExchange::after(const Share& share) const {
  const std::lock_guard lock(mutex_);
  return core_.after(share);
}

// Async: the worker has the whole gradient of its push, so it sees to clipping and to
// values that are not finite itself (rule 8).
double PsExchange::own_scale(std::span<const float> gradient, const Loss& loss) const {
  if (options_.core.mode == Mode::kSync || !options_.rules.look()) return 1;
  const std::optional<double> scale =
      options_.rules.scale(options_.rules.measure(gradient), loss.weight);
  if (!scale) throw DivergedError(options_.name + ": the gradient");
  return *scale;
}

void PsExchange::drain() {
  const Pump::Hold hold(pump_);
  const auto over = [this] {
    const std::lock_guard lock(mutex_);
    return core_.quiet() || aborted_ || dismissed_;
  };
  try {
    connection_->wait(over, TimePoint::max());
  } catch (const ServerLost&) {
    const std::lock_guard lock(mutex_);
    if (!core_.stopping()) throw;  // at the end of a run servers leave when they like
  }
}

void PsExchange::dismiss() {
  dismissed_ = true;
  loop_.post([] {});
}

}  // namespace paceline
