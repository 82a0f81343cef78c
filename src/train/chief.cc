#include "train/chief.h"

#include <algorithm>
#include <csignal>

#include "base/error.h"
#include "base/file/file.h"
#include "base/log.h"
#include "base/process.h"
#include "base/signals.h"
#include "base/units.h"
#include "data/image_folder.h"
#include "net/refuse.h"
#include "session/failure.h"
#include "session/hello.h"
#include "session/member.h"
#include "session/message.h"
#include "train/start.h"

namespace paceline {
namespace {

// For our own line to a server to end after the saver's has.
constexpr Duration kSameNews = std::chrono::milliseconds(600);
// For all to leave a run that was stopped.
constexpr Duration kGoodbyes = std::chrono::milliseconds(300);
// Who asks a run to stop is told after this long what it still waits for.
constexpr Duration kSilentStop = std::chrono::seconds(1);

Role role_of(const std::string& text) {
  if (text == "server") return Role::kServer;
  if (text == "worker") return Role::kWorker;
  if (text == "evaluator") return Role::kEvaluator;
  throw FrameError("there is no role '" + text + "'");
}

struct TypeOf {
  wire::Type operator()(const wire::Registered&) const { return wire::REGISTERED; }
  wire::Type operator()(const wire::Setup&) const { return wire::SETUP; }
  wire::Type operator()(const wire::Begin&) const { return wire::BEGIN; }
  wire::Type operator()(const wire::Fence&) const { return wire::FENCE; }
  wire::Type operator()(const wire::Prepare&) const { return wire::PREPARE; }
  wire::Type operator()(const wire::Assignment&) const { return wire::ASSIGNMENT; }
  wire::Type operator()(const wire::Lease&) const { return wire::LEASE; }
  wire::Type operator()(const wire::Decision&) const { return wire::DECISION; }
  wire::Type operator()(const wire::Pin&) const { return wire::PIN; }
  wire::Type operator()(const wire::Unpin&) const { return wire::UNPIN; }
  wire::Type operator()(const wire::Keep&) const { return wire::KEEP; }
  wire::Type operator()(const wire::Evaluate&) const { return wire::EVALUATE; }
  wire::Type operator()(const wire::Stop&) const { return wire::STOP; }
  wire::Type operator()(const wire::Goodbye&) const { return wire::GOODBYE; }
};

}  // namespace

Chief::Chief(const RoleContext& role, const Address& address)
    : role_(role),
      workload_(make_workload(role)),
      saved_as_(checkpoint_info(role, workload_, 0)),
      loop_(Duration::zero()),
      record_(role.config, workload_.grid, role.status_fd, role.bad_lines),
      watch_(role.config.deadline, Clock::now()) {
  const RunConfig& config = role_.config;
  ChiefCore::Options options;
  options.mode = config.mode;
  options.grid = workload_.grid;
  options.servers = server_count(config);
  options.ring = config.exchange == ExchangeKind::kAllReduce;
  options.workers = static_cast<std::uint32_t>(config.workers);
  options.last_version = workload_.last_version;
  options.lease_block = config.lease_block;
  options.checkpoint_every = config.checkpoint_every;
  if (const auto checkpoint = open_checkpoint(role)) {
    options.version = checkpoint->info().version;
    record_.resumed(role.checkpoint, options.version);
    for (const Range& range : checkpoint->info().applied) {
      for (std::uint64_t step = range.begin; step < range.end; ++step) options.applied.add(step);
    }
  }
  core_ = std::make_unique<ChiefCore>(options);
  LinkOptions link_options;
  link_options.run = role_.id;
  line_events_.entered = [this](MemberLine& line, const wire::Register& who) {
    guarded([&] { enter(line, who); });
  };
  line_events_.told = [this](MemberLine& line, wire::Type type, std::string_view meta) {
    guarded([&] { told(line, type, meta); });
  };
  line_events_.closed = [this](MemberLine& line, const Error& cause) {
    guarded([&] { closed(line, cause); });
  };
  listener_ = std::make_unique<Listener>(
      loop_, address, link_options,
      [this](std::shared_ptr<Link> link) -> LinkHandler* {
        return lines_
            .emplace_back(std::make_shared<MemberLine>(std::move(link), role_.digest, line_events_))
            .get();
      },
      config.insecure);
}

Chief::~Chief() {
  saver_.reset();
}

void Chief::run() {
  record_.address(listener_->address().text());
  opened_ = progressed_ = looked_ = Clock::now();
  checks_ = loop_.every(role_.config.heartbeat, [this] {
    record_.flush();
    look_after_members();
    if (ended_) return;
    drop_stuck_members();
    core_->started() ? look_for_stalls() : look_for_latecomers();
  });
  loop_.run();
  // Sooner than the launcher gives up the chief, who is alone by now.
  if (saver_) {
    saver_->finish(role_.config.deadline / 2,
                   [this] { record_.leaving("writing the last checkpoint"); });
  }
  if (own_failure_) std::rethrow_exception(own_failure_);
  std::optional<Error> failure = ended_->failure;
  if (ended_->interrupted) failure = Interrupted("interrupted");
  // Now, should it never come to the end of what follows.
  if (ended_->failure) tell_failure(role_.failure_fd, failure_line(*ended_->failure));
  record_.leaving("writing its summary");
  try {
    if (core_->started()) record_.summary(core_->examples_done(), figures_by_role(), failure);
  } catch (const DataError& unwritten) {
    if (!ended_->failure) throw;
    spdlog::error("{}", unwritten.what());  // what the run failed with says more
  }
  if (failure) throw Error(*failure);
}

void Chief::interrupt() {
  loop_.post([this] {
    if (ended_) return loop_.stop();  // nobody needs to be waited for
    record_.stopping();
    carry_out(core_->stop());
    still_stopping_ = loop_.after(kSilentStop, [this] {
      if (ended_) return;
      record_.notice(
          fmt::format("stopping: waiting for {}. Ctrl-C again ends the run without saving",
                      core_->waited_for()));
    });
  });
}

// ---- members ---------------------------------------------------------------------------

// What a member sends may be wrong (FrameError): its line is closed. Anything else that
// goes wrong while its message is handled is the chief's own failure, not the member's.
void Chief::guarded(const std::function<void()>& work) {
  try {
    work();
  } catch (const FrameError&) {
    throw;
  } catch (const std::exception&) {
    if (!own_failure_) own_failure_ = std::current_exception();
    loop_.stop();
  }
}

void Chief::enter(MemberLine& line, const wire::Register& who) {
  const Role role = role_of(who.role());
  if (const std::string why = core_->unwelcome(role); !why.empty()) {
    return refuse(line.link(), fmt::format("{} is not needed: {}", who.name(), why));
  }
  spdlog::info("{} has registered (process {} on {})", who.name(), who.pid(), who.host());
  carry_out(core_->registered(role, who.name(), who.address(), line.incarnation));
}

void Chief::told(MemberLine& line, wire::Type type, std::string_view meta) {
  const std::uint32_t member = line.incarnation;
  if (type == wire::HEARTBEAT) {
    heard(line, parsed<wire::Heartbeat>(meta));
    FrameHeader answer;
    answer.type = wire::HEARTBEAT;
    line.send(answer, {});
  } else if (type == wire::READY) {
    const bool before = core_->started();
    const auto& actions = core_->ready(member);
    if (!before && core_->started()) {
      record_.begun(core_->examples_done());
      progressed_ = Clock::now();
      watch_.got_on(progressed_);
    }
    carry_out(actions);
  } else if (type == wire::COMPLETE) {
    carry_out(core_->complete(member, parsed<wire::Complete>(meta)));
  } else if (type == wire::FENCED) {
    carry_out(core_->fenced(member, parsed<wire::Fenced>(meta)));
  } else if (type == wire::PREPARED) {
    carry_out(core_->prepared(member, parsed<wire::Prepared>(meta)));
  } else if (type == wire::COMMITTED) {
    line.finished = record_.elapsed();
    carry_out(core_->committed(member, parsed<wire::Committed>(meta)));
  } else if (type == wire::SCALARS) {
    carry_out(core_->scalars(member, parsed<wire::Scalars>(meta)));
  } else if (type == wire::EVALUATED) {
    const auto evaluated = parsed<wire::Evaluated>(meta);
    watch_.got_on(Clock::now());
    if (core_->awaits_test(evaluated.version())) record_.evaluated(evaluated);
    carry_out(core_->evaluated(evaluated));
  } else if (type == wire::WORKER_EPOCH) {
    record_.worker_epoch(line.who.name(), parsed<wire::WorkerEpoch>(meta));
  } else if (type == wire::NOTE) {
    pass_on(line, meta);
  } else if (type == wire::STOPPED) {
    carry_out(core_->stopped(member, parsed<wire::Stopped>(meta)));
  } else if (type == wire::STOP) {
    const Error failure = error_of(parsed<wire::Stop>(meta).failure());
    if (failure.code() != ExitCode::kInterrupted) {
      carry_out(core_->fail(failure));
    } else if (!ended_ && !core_->stopping()) {  // somebody has asked that member
      interrupt();
    }
  } else if (type == wire::GOODBYE) {
    const auto goodbye = parsed<wire::Goodbye>(meta);
    heard(line, goodbye.last());
    line.goodbye = goodbye;
    if (ended_ && all_gone()) loop_.stop();
  } else {
    throw FrameError(
        fmt::format("the chief does not know message type {}", static_cast<int>(type)));
  }
}

// To all other workers.
void Chief::pass_on(const MemberLine& from, std::string_view note) {
  FrameHeader header;
  header.type = wire::NOTE;
  for (const auto& line : lines_) {
    if (line.get() != &from && line->who.role() == "worker") line->send(header, note);
  }
}

void Chief::heard(MemberLine& line, const wire::Heartbeat& beat) {
  if (beat.quiet() && !line.figures.quiet()) {
    if (role_.config.mode == Mode::kSync) line.finished = record_.elapsed();
    carry_out(core_->quiet(line.incarnation));
  }
  line.figures = beat;
  watch_.heard(line.incarnation, beat, Clock::now());
  record_.add_unreadable(Split::kTest, beat.unreadable_tests());
  try {
    expect_few_unreadable(record_.add_unreadable(Split::kTrain, beat.unreadable()), workload_.data);
  } catch (const DataError& error) {
    if (!ended_) {
      carry_out(core_->fail(error));
    } else if (!ended_->failure) {  // a short run: known only when everyone has left
      ended_->failure = error;
    }
  }
}

void Chief::closed(MemberLine& line, const Error& cause) {
  if (line.incarnation != 0) return lost(line, cause);
  spdlog::warn("{} was turned away or has left: {}", line.peer(), cause.what());
  // It never registered. The line is in use until this returns.
  loop_.post([this, stranger = &line] {
    std::erase_if(lines_, [&](const auto& other) { return other.get() == stranger; });
  });
}

void Chief::lost(MemberLine& line, const Error& cause) {
  watch_.forget(line.incarnation);
  if (!ended_) {
    carry_out(core_->lost(line.incarnation, cause));
  } else if (all_gone()) {
    loop_.stop();
  }
}

// ---- actions ---------------------------------------------------------------------------

void Chief::send(std::uint32_t incarnation, const ChiefMessage& message) {
  const auto found = std::find_if(lines_.begin(), lines_.end(), [&](const auto& line) {
    return line->incarnation == incarnation;
  });
  if (found == lines_.end()) return;
  std::visit(
      [&](const auto& content) {
        FrameHeader header;
        header.type = static_cast<std::uint16_t>(TypeOf()(content));
        (*found)->send(header, content.SerializeAsString());
      },
      message);
}

void Chief::carry_out(const ChiefCore::Actions& actions) {
  for (const ChiefAction& action : ChiefCore::Actions(actions)) {
    if (const auto* message = std::get_if<SendToMember>(&action)) {
      send(message->incarnation, message->message);
    } else if (const auto* progress = std::get_if<Progressed>(&action)) {
      if (progress->version != last_version_seen_) {
        last_version_seen_ = progress->version;
        progressed_ = Clock::now();
        watch_.got_on(progressed_);
        stall_told_ = false;
      }
      missing_.clear();
      for (const auto& gap : progress->sums.missing()) missing_.push_back({gap.begin(), gap.end()});
      record_.progress(progress->examples, progress->sums);
    } else if (const auto* epoch = std::get_if<EpochTrained>(&action)) {
      record_.epoch_trained(epoch->epoch, epoch->version);
    } else if (const auto* untested = std::get_if<EpochUntested>(&action)) {
      record_.untested(untested->epoch, untested->version);
    } else if (const auto* checkpoint = std::get_if<SaveCheckpoint>(&action)) {
      save(*checkpoint);
    } else if (const auto* notice = std::get_if<Notice>(&action)) {
      notice->warning ? record_.warning(notice->text) : record_.notice(notice->text);
    } else if (const auto* ended = std::get_if<RunEnded>(&action)) {
      end(*ended);
    }
  }
}

void Chief::save(const SaveCheckpoint& checkpoint) {
  if (!saver_ || saved_from_ != core_->servers().front().name()) start_saver();
  CheckpointInfo info = saved_as_;
  set_version(info, workload_.grid, checkpoint.version);
  if (role_.config.mode != Mode::kSync && !checkpoint.complete_epoch) {
    info.applied = core_->leases_done().ranges();
    info.examples = core_->examples_done();
  }
  saver_->save(std::move(info));
}

void Chief::start_saver() {
  saved_from_ = core_->servers().front().name();
  saver_ = std::make_unique<Saver>(
      role_.config, workload_.chunks, ps_address(role_, "chief", core_->servers(), 0),
      [this](std::uint64_t version, const std::optional<Saver::Failure>& failure) {
        loop_.post([this, version, failure] {
          watch_.got_on(Clock::now());
          if (!failure) return carry_out(core_->saved(version));
          if (!failure->server_lost) return save_failed(version, failure->error);
          // That line of ours ends as well, and says better what has happened; and a ring goes on
          // with another keeper.
          const auto settle = [this, version, failure, from = saved_from_] {
            const auto servers = core_->servers();
            if (ended_ || servers.empty() || servers.front().name() != from) return;
            save_failed(version, failure->error);
          };
          save_failures_.push_back(loop_.after(kSameNews, settle));
        });
      });
}

void Chief::save_failed(std::uint64_t version, const Error& cause) {
  const Error failure(cause,
                      fmt::format("the checkpoint of version {} could not be written", version),
                      cause.code());
  record_.warning(failure.what());
  carry_out(core_->save_failed(version, failure));
}

void Chief::end(const RunEnded& ended) {
  if (ended_) return;
  ended_ = ended;
  if (ended_->failure) ended_->failure->add_remark(silences());
  record_.leaving("waiting for the other roles to leave", Hears::kYes);
  // A run that was not stopped hears everyone's last figures.
  const bool stopped = ended.interrupted || ended.failure;
  leave_ = loop_.after(stopped ? kGoodbyes : role_.config.member_timeout, [this] { loop_.stop(); });
  if (all_gone()) loop_.stop();
}

bool Chief::all_gone() const {
  return std::none_of(lines_.begin(), lines_.end(), [&](const auto& line) {
    const ClusterMember* member = core_->member(line->incarnation);
    return member != nullptr && member->live && !line->goodbye && line->open();
  });
}

void run_chief(const RoleContext& role) {
  block_signals({SIGTERM, SIGINT});
  const RunConfig& config = role.config;
  Address address;
  if (config.transport == Transport::kTcp) {
    address = {Address::Kind::kTcp, config.listen, config.port};
  } else {
    address = Address::parse(role.chief);
  }
  Chief chief(role, address);
  const SignalWatcher signals({SIGTERM, SIGINT}, [&](int) { chief.interrupt(); });
  chief.run();
}

}  // namespace paceline
