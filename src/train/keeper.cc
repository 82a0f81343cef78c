#include "train/keeper.h"

#include "base/error.h"
#include "base/log.h"
#include "session/heartbeat.h"
#include "session/member.h"
#include "session/message.h"

namespace paceline {
namespace {

Address own_address(const RoleContext& role) {
  if (role.config.transport == Transport::kTcp) return {Address::Kind::kTcp, role.config.listen, 0};
  const std::filesystem::path chief = Address::parse(role.chief).host;
  // Each has a name of its own: the one before may still listen, in a process that stands still.
  return {Address::Kind::kUnix, chief.parent_path() / ("keeper-" + role.name + ".sock"), 0};
}

}  // namespace

void add_step(wire::Complete& sums, std::uint64_t version, const Loss& loss, bool skipped) {
  sums.set_version(version);
  sums.set_loss(sums.loss() + loss.sum);
  sums.set_weight(sums.weight() + loss.weight);
  sums.set_correct(sums.correct() + loss.correct);
  sums.set_predictions(sums.predictions() + loss.predictions);
  sums.set_examples(sums.examples() + loss.examples);
  sums.set_skipped(sums.skipped() + (skipped ? 1 : 0));
}

Keeper::Keeper(const RoleContext& role, const Workload& workload, std::function<void()> stop)
    : role_(role),
      grid_(workload.grid),
      stop_(std::move(stop)),
      loop_(Duration::zero()),
      server_(workload.chunks, role.digest) {
  role_.name = keeper_name(role.name);
  LinkOptions options;
  options.run = role.id;
  listener_ = std::make_unique<Listener>(
      loop_, own_address(role), options,
      [this](std::shared_ptr<Link> link) { return server_.accept(std::move(link)); },
      role.config.insecure);
  ChiefLine::Events events;
  events.told = [this](wire::Type type, std::string_view meta) { told(type, meta); };
  events.lost = [](const std::string&) {};  // the worker beside it notices, too
  events.beat = [this] {  // without the process's own figures: the worker tells these
    wire::Heartbeat beat;
    beat.set_bytes_in(server_.counters().bytes_in);
    beat.set_bytes_out(server_.counters().bytes_out);
    return beat;
  };
  line_ = std::make_unique<ChiefLine>(
      loop_, line_options(role_, "server", listener_->address().text()), std::move(events));
  thread_ = std::thread([this] {
    line_->start();
    reports_ = loop_.every(std::chrono::milliseconds(100), [this] { report(); });
    loop_.run();
  });
}

Keeper::~Keeper() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    changed_.notify_all();
  }
  loop_.stop();
  thread_.join();
  reports_.reset();
  line_.reset();
}

// ---- the thread of the ring ------------------------------------------------------------

std::shared_ptr<const PinnedVersion> Keeper::copy(std::span<const float> values,
                                                  std::span<const float> state) const {
  auto version = std::make_shared<PinnedVersion>();
  version->values = Buffer(values.size_bytes());
  version->state = Buffer(state.size_bytes());
  std::copy(values.begin(), values.end(), version->values.as_floats().begin());
  std::copy(state.begin(), state.end(), version->state.as_floats().begin());
  return version;
}

void Keeper::step_done(std::uint64_t version, const Loss& loss, bool skipped,
                       std::span<const float> values, std::span<const float> state) {
  const bool epoch_ends = version % grid_.steps_per_epoch() == 0;
  std::unique_lock lock(mutex_);
  add_step(sums_, version, loss, skipped);
  if (!epoch_ends) return;
  changed_.wait(lock, [this] { return pins_.size() < kMostPins || over_ || asked_to_stop_; });
  pins_.insert(version);
  wire::Complete complete = std::exchange(sums_, {});
  complete.set_version(version);  // report() may have taken what was summed during the wait
  complete.set_pinned(true);
  lock.unlock();
  loop_.post([this, version, content = copy(values, state), complete] {
    server_.pin(version, content);
    line_->tell({wire::COMPLETE, complete.SerializeAsString()});
  });
}

void Keeper::abandon() {
  const std::lock_guard lock(mutex_);
  over_ = true;
  changed_.notify_all();
}

void Keeper::stopped(std::uint64_t version, std::shared_ptr<const PinnedVersion> content,
                     const wire::Complete& epoch) {
  loop_.post([this, version, content = std::move(content), epoch] {
    server_.pin(version, content);
    {
      const std::lock_guard lock(mutex_);
      stopped_ = version;
      epoch_ = epoch;
    }
    tell_stopped();
    tell_pinned();
  });
}

// ---- the keeper's own ------------------------------------------------------------------

void Keeper::report() {
  wire::Complete complete;
  {
    const std::lock_guard lock(mutex_);
    if (sums_.version() == 0) return;
    complete = std::exchange(sums_, {});
  }
  line_->tell({wire::COMPLETE, complete.SerializeAsString()});
}

// When both sides know that the run is to stop.
void Keeper::tell_stopped() {
  wire::Stopped message;
  {
    const std::lock_guard lock(mutex_);
    if (!asked_to_stop_ || !stopped_) return;
    message.set_version(*stopped_);
  }
  message.set_even(true);
  line_->tell({wire::STOPPED, message.SerializeAsString()});
}

// Asked of whoever takes another's place when all steps are done. It may not have got as far.
void Keeper::tell_pinned() {
  wire::Complete complete;
  {
    const std::lock_guard lock(mutex_);
    if (!stopped_ || !asked_to_pin_) return;
    complete = epoch_;
    complete.set_version(*stopped_);
    complete.set_whole(true);
    complete.set_pinned(asked_to_pin_ == stopped_);
  }
  line_->tell({wire::COMPLETE, complete.SerializeAsString()});
}

void Keeper::told(wire::Type type, std::string_view meta) {
  if (type == wire::SETUP) {
    line_->tell({wire::READY, wire::Ready().SerializeAsString()});
  } else if (type == wire::PIN) {
    {
      const std::lock_guard lock(mutex_);
      asked_to_pin_ = parsed<wire::Pin>(meta).version();
    }
    tell_pinned();
  } else if (type == wire::UNPIN) {
    const std::uint64_t version = parsed<wire::Unpin>(meta).version();
    server_.unpin(version);
    const std::lock_guard lock(mutex_);
    pins_.erase(version);
    changed_.notify_all();
  } else if (type == wire::STOP) {
    {
      const std::lock_guard lock(mutex_);
      asked_to_stop_ = true;
      changed_.notify_all();
    }
    stop_();
    tell_stopped();
  } else if (type == wire::GOODBYE) {
    line_->goodbye();
  }
}

}  // namespace paceline
