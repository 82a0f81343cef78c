#include "exchange/ps/server.h"

#include <atomic>
#include <csignal>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/activity.h"
#include "base/error.h"
#include "base/log.h"
#include "base/signals.h"
#include "checkpoint/checkpoint.h"
#include "data/catalogue/open.h"
#include "exchange/ps/row_shard.h"
#include "exchange/ps/shard.h"
#include "net/socket.h"
#include "session/failure.h"
#include "session/heartbeat.h"
#include "session/member.h"
#include "session/message.h"
#include "train/role.h"
#include "train/server_options.h"
#include "train/sparse_rows.h"
#include "train/start.h"
#include "train/workload.h"

namespace paceline {
namespace {

// The first thread runs the loop of the data links; the member's talks with the chief, so that the
// chief hears of this role while much is being applied; a third one sets up what is held.
class ServerRole {
 public:
  explicit ServerRole(const RoleContext& role)
      : role_(role), workload_(make_workload(role)), loop_(role.config.spin) {
    LinkOptions options;
    options.run = role.id;
    options.short_cut = true;
    listener_ = std::make_unique<Listener>(
        loop_, own_address(), options,
        [this](std::shared_ptr<Link> link) -> LinkHandler* {
          return server_ ? server_->accept(std::move(link)) : nullptr;
        },
        role.config.insecure);
    serving_.begin(Activity::Kind::kServing, "serving workers");
    Member::Events events;
    events.told = [this](wire::Type type, std::string_view meta) {
      loop_.post([this, type, text = std::string(meta)] { hear(type, text); });
      return true;
    };
    events.lost = [this](const CommError& gone) {
      loop_.post([this, gone] {
        chief_gone_ = gone;
        loop_.stop();
      });
    };
    events.beat = [this] { return beat(); };
    member_ = std::make_unique<Member>(line_options(role, "server", listener_->address().text()),
                                       std::move(events));
  }

  ~ServerRole() {
    if (set_up_.joinable()) set_up_.join();
  }

  void run() {
    // Whoever ends all processes at once, such as a scheduler, would otherwise lose what the
    // servers hold: the chief is asked to end the run, and to save it.
    const SignalWatcher signals(
        {SIGTERM}, [this](int) { member_->tell(stop_word(Interrupted("interrupted"))); });
    serving_.adopt();
    loop_.run();
    if (chief_gone_ && !own_failure_) throw CommError(*chief_gone_);
    take_turn();
    member_->leave();
    if (own_failure_) std::rethrow_exception(own_failure_);
  }

 private:
  void hear(wire::Type type, std::string_view meta) {
    try {
      told(type, meta);
    } catch (const std::exception&) {
      fail();
    }
  }

  // With the exception that is being handled, its own: the chief is told, and ends the run. What
  // this server holds may be half changed, so it serves nobody any more.
  void fail() {
    own_failure_ = std::current_exception();
    member_->tell(stop_word(current_error()));
    loop_.stop();
  }

  // On the member's thread. What the loop's thread does it tells itself, when it comes round.
  wire::Heartbeat beat() {
    if (!asked_for_turn_.exchange(true)) loop_.post([this] { take_turn(); });
    wire::Heartbeat beat;
    {
      const std::lock_guard lock(mutex_);
      beat = figures(counters_);
      if (serving_seconds_ > 0) beat.set_training_cpu_seconds(serving_seconds_);
    }
    add_activity(serving_, beat);
    add_activity(setting_up_, beat);
    return beat;
  }

  void take_turn() {
    asked_for_turn_ = false;
    serving_.count();
    if (!server_) return;
    const std::lock_guard lock(mutex_);
    counters_ = server_->counters();
    serving_seconds_ = server_->serving_seconds();
  }

  Address own_address() const {
    const RunConfig& config = role_.config;
    if (config.transport == Transport::kTcp) return {Address::Kind::kTcp, config.listen, 0};
    const std::filesystem::path chief = Address::parse(role_.chief).host;
    return {Address::Kind::kUnix, chief.parent_path() / (role_.name + ".sock"), 0};
  }

  void told(wire::Type type, std::string_view meta) {
    if (type == wire::SETUP) {
      if (set_up_.joinable() || server_) throw CommError("the chief sent a second set-up");
      set_up(parsed<wire::Setup>(meta));
    } else if (type == wire::GOODBYE) {
      loop_.stop();
    } else if (server_) {
      server_->told(type, meta);
    }
  }

  void set_up(const wire::Setup& setup) {
    ServerCore::Options options =
        server_options(role_.config, workload_, setup.index(), setup.version());
    set_up_ = std::thread([this, setup, options]() mutable {
      setting_up_.adopt();
      setting_up_.begin(Activity::Kind::kBusy, "setting up its parameters");
      try {
        auto holding = options.rows ? hold_rows(setup, options) : hold_chunks(setup, options);
        // Functions that are posted must be copied.
        const auto shared = std::make_shared<std::unique_ptr<Holding>>(std::move(holding));
        setting_up_.begin(Activity::Kind::kIdle, "");
        loop_.post([this, options, shared] { hold(options, std::move(*shared)); });
      } catch (const Error& error) {
        fail_later(stop_word(error));
      } catch (const std::exception& error) {
        fail_later(stop_word(ResourceError("the parameters cannot be set up: {}", error.what())));
      }
    });
  }

  void fail_later(const ChiefWord& word) {
    loop_.post([this, failure = std::current_exception(), word] {
      own_failure_ = failure;
      member_->tell(word);
    });
  }

  void hold(const ServerCore::Options& options, std::unique_ptr<Holding> holding) {
    set_up_.join();
    server_ = std::make_unique<PsServer>(
        options, std::move(holding), role_.digest,
        [this](ChiefWord word) { member_->tell(std::move(word)); }, [this] { fail(); });
    reports_ = loop_.every(std::chrono::milliseconds(100), [this] { server_->report(); });
    member_->tell(wire::READY, wire::Ready());
    spdlog::info("holds {} chunks from version {} on", options.chunks.size(), options.version);
  }

  // Fills in which steps were applied, if a checkpoint says so.
  std::unique_ptr<Holding> hold_chunks(const wire::Setup& setup, ServerCore::Options& options) {
    auto shard = std::make_unique<Shard>(workload_.chunks, setup.index(),
                                         shard_options(role_.config, workload_, options),
                                         workload_.schedule);
    if (const auto checkpoint = open_checkpoint(role_, &setting_up_)) {
      load(*shard, options, *checkpoint);
      options.applied = checkpoint->info().applied;
    } else {
      initialize(*shard, options);
    }
    return shard;
  }

  std::unique_ptr<Holding> hold_rows(const wire::Setup& setup, ServerCore::Options& options) {
    const RunConfig& config = role_.config;
    auto shard = std::make_unique<RowShard>(
        deal_rows(workload_), setup.index(),
        RowShardOptions{config.optimizer, config.mode, workload_.grid, workload_.rules,
                        config.deterministic, options.version,
                        open_rows(config.data, Split::kTest)},
        workload_.schedule);
    if (const auto checkpoint = open_checkpoint(role_, &setting_up_)) {
      load_rows(role_, *checkpoint, *shard);
      options.applied = checkpoint->info().applied;
    }
    return shard;
  }

  void initialize(Shard& shard, const ServerCore::Options& options) {
    Buffer values = Buffer::floats(workload_.chunks.floats());
    load_start(role_.config, *workload_.model, values.as_floats(), &setting_up_);
    for (const std::uint32_t chunk : options.chunks) {
      const Range floats = workload_.chunks.floats_of(chunk);
      shard.load(chunk, options.version, values.as_floats().subspan(floats.begin, floats.size()),
                 {});
    }
  }

  void load(Shard& shard, const ServerCore::Options& options, const ValueSource& checkpoint) {
    const std::uint64_t slots = usable_slots(role_, checkpoint);
    for (const std::uint32_t chunk : options.chunks) {
      const Range floats = workload_.chunks.floats_of(chunk);
      std::vector<float> values(floats.size());
      std::vector<float> state(slots * floats.size());
      checkpoint.read(0, floats, values);
      for (std::uint64_t slot = 0; slot < slots; ++slot) {
        checkpoint.read(1 + slot, floats,
                        std::span(state).subspan(slot * floats.size(), floats.size()));
      }
      shard.load(chunk, options.version, values, state);
    }
  }

  RoleContext role_;
  Workload workload_;
  Loop loop_;
  std::unique_ptr<PsServer> server_;
  std::unique_ptr<Listener> listener_;
  Loop::Token reports_;
  std::optional<CommError> chief_gone_;
  std::exception_ptr own_failure_;
  Activity serving_{"serving"};
  Activity setting_up_{"setting up"};
  std::atomic<bool> asked_for_turn_ = false;
  std::mutex mutex_;  // guards the two below
  LinkCounters counters_;
  double serving_seconds_ = 0;
  std::unique_ptr<Member> member_;  // its thread uses the others
  std::thread set_up_;              // and so does this one
};

}  // namespace

void run_server(const RoleContext& role) {
  block_signals({SIGTERM});
  ServerRole(role).run();
}

}  // namespace paceline
