#include "train/chief.h"

#include <csignal>
#include <fstream>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/signals.h"
#include "base/units.h"
#include "net/hello.h"
#include "train/member.h"

namespace paceline {
namespace {

constexpr Duration kGrace = std::chrono::milliseconds(1500);  // for members to stop, to leave

Role role_of(const std::string& text) {
  if (text == "server") return Role::kServer;
  if (text == "worker") return Role::kWorker;
  if (text == "evaluator") return Role::kEvaluator;
  throw FrameError("there is no role '" + text + "'");
}

template <typename Message>
Message parsed(std::string_view meta) {
  Message message;
  if (!message.ParseFromArray(meta.data(), static_cast<int>(meta.size()))) {
    throw FrameError("metadata cannot be parsed");
  }
  return message;
}

struct TypeOf {
  wire::Type operator()(const wire::Registered&) const { return wire::REGISTERED; }
  wire::Type operator()(const wire::Setup&) const { return wire::SETUP; }
  wire::Type operator()(const wire::Begin&) const { return wire::BEGIN; }
  wire::Type operator()(const wire::Fence&) const { return wire::FENCE; }
  wire::Type operator()(const wire::Prepare&) const { return wire::PREPARE; }
  wire::Type operator()(const wire::Plan&) const { return wire::PLAN; }
  wire::Type operator()(const wire::Lease&) const { return wire::LEASE; }
  wire::Type operator()(const wire::Verdict&) const { return wire::VERDICT; }
  wire::Type operator()(const wire::Pin&) const { return wire::PIN; }
  wire::Type operator()(const wire::Unpin&) const { return wire::UNPIN; }
  wire::Type operator()(const wire::Evaluate&) const { return wire::EVALUATE; }
  wire::Type operator()(const wire::Stop&) const { return wire::STOP; }
  wire::Type operator()(const wire::Goodbye&) const { return wire::GOODBYE; }
};

}  // namespace

// One member's line, from the chief's side.
class Chief::Connection final : public LinkHandler {
 public:
  Connection(Chief& chief, std::shared_ptr<Link> link) : chief_(chief), link_(std::move(link)) {}

  Link& link() { return *link_; }
  std::uint32_t incarnation = 0;
  std::string name;
  std::string role;
  std::string host;
  int pid = 0;
  std::optional<std::string> goodbye;  // its last word, with the error if there was one
  double finished = 0;                 // seconds into the run

  std::span<std::byte> place(Link&, const FrameHeader&, std::string_view) override {
    throw FrameError("the chief takes no payloads");
  }

  void received(Link&, const FrameHeader& header, std::string_view meta,
                std::span<std::byte>) override {
    if (header.type == kHelloType) {
      const Hello hello = decode_hello(meta);
      if (hello.config_digest != chief_.role_.digest) {
        return refuse(*link_, "the chief was started with another configuration than this " +
                                  hello.role + ": start all roles with the same config.toml");
      }
      greeted_ = true;
      FrameHeader welcome;
      welcome.type = kWelcomeType;
      return link_->send(welcome, {});
    }
    if (!greeted_) throw FrameError("the first message is not a hello");
    if (header.type == wire::REGISTER && incarnation == 0)
      return enter(parsed<wire::Register>(meta));
    if (incarnation == 0) throw FrameError("not registered");
    chief_.told(incarnation, static_cast<wire::Type>(header.type), meta);
  }

  void closed(Link&, const std::string& reason) override {
    if (incarnation != 0) {
      chief_.lost(incarnation, goodbye && !goodbye->empty() ? *goodbye : reason);
    }
  }

 private:
  void enter(const wire::Register& message) {
    name = message.name();
    role = message.role();
    host = message.host();
    pid = message.pid();
    const auto& actions =
        chief_.core_->registered(role_of(role), name, message.address(), incarnation);
    Present& present = chief_.present_[incarnation];
    for (const auto& stranger : chief_.strangers_) {
      if (stranger.get() == this) present.connection = stranger;
    }
    std::erase(chief_.strangers_, present.connection);
    present.heard = Clock::now();
    spdlog::info("{} has registered (process {} on {})", name, pid, host);
    chief_.carry_out(actions);
  }

  Chief& chief_;
  std::shared_ptr<Link> link_;
  bool greeted_ = false;
};

Chief::Chief(const RoleContext& role, const Address& address)
    : role_(role),
      parts_(make_parts(role.config)),
      loop_(Duration::zero()),
      journal_(role.config, parts_.grid, role.status_fd) {
  const RunConfig& config = role_.config;
  ChiefCore::Options options;
  options.mode = config.mode;
  options.grid = parts_.grid;
  options.servers = static_cast<std::uint32_t>(config.servers);
  options.workers = static_cast<std::uint32_t>(config.workers);
  options.last_version = parts_.last_version;
  options.lease_block = config.lease_block;
  options.checkpoint_every = config.checkpoint_every;
  if (!config.resume.empty()) {
    options.checkpoint = find_checkpoint(config.resume);
    const CheckpointReader reader(options.checkpoint);
    options.version = reader.info().version;
    for (const Range& range : reader.info().applied) {
      for (std::uint64_t step = range.begin; step < range.end; ++step) options.applied.add(step);
    }
  }
  core_ = std::make_unique<ChiefCore>(options);
  LinkOptions link_options;
  link_options.run = run_id(role_.digest);
  listener_ = std::make_unique<Listener>(
      loop_, address, link_options,
      [this](std::shared_ptr<Link> link) -> LinkHandler* {
        return strangers_.emplace_back(std::make_shared<Connection>(*this, std::move(link))).get();
      },
      config.insecure);
}

Chief::~Chief() {
  saver_.reset();
}

void Chief::run() {
  journal_.address(listener_->address().text());
  progressed_ = Clock::now();
  checks_ = loop_.every(role_.config.heartbeat, [this] {
    look_after_members();
    look_for_stalls();
  });
  start_limit_ = loop_.after(role_.config.start_timeout, [this] {
    if (core_->started()) return;
    std::size_t here = present_.size();
    carry_out(core_->stop(
        fmt::format("after {} only {} of {} roles have registered; see the logs of the others, or "
                    "raise --start-timeout",
                    format_duration(role_.config.start_timeout), here,
                    role_.config.servers + role_.config.workers + 1),
        true));
  });
  loop_.run();
  saver_.reset();
  nlohmann::json roles = nlohmann::json::array();
  for (const auto& [incarnation, member] : present_) {
    nlohmann::json entry = {{"name", member.connection->name},
                            {"role", member.connection->role},
                            {"host", member.connection->host},
                            {"cpu_seconds", member.figures.cpu_seconds()},
                            {"peak_rss_bytes", member.figures.peak_rss_bytes()},
                            {"bytes_in", member.figures.bytes_in()},
                            {"bytes_out", member.figures.bytes_out()}};
    if (member.connection->role == "worker") {
      entry["examples"] = member.figures.examples();
      entry["finish_seconds"] = member.connection->finished;
    }
    roles.push_back(std::move(entry));
  }
  const wire::Heartbeat own = figures({});
  roles.push_back({{"name", role_.name},
                   {"role", "chief"},
                   {"cpu_seconds", own.cpu_seconds()},
                   {"peak_rss_bytes", own.peak_rss_bytes()},
                   {"bytes_in", 0},
                   {"bytes_out", 0}});
  const std::string error = ended_->interrupted ? "interrupted" : ended_->error;
  journal_.summary(core_->examples_done(), std::move(roles), error);
  if (ended_->interrupted) throw Interrupted("interrupted");
  if (!ended_->error.empty()) throw Error(ended_->error, failure_);
}

void Chief::interrupt() {
  loop_.post([this] {
    carry_out(core_->stop("interrupted", false));
    hurry_ = loop_.after(kGrace, [this] { carry_out(core_->hurry()); });
  });
}

// ---- members ---------------------------------------------------------------------------

std::string Chief::name_of_member(std::uint32_t incarnation) const {
  const ClusterMember* found = core_->member(incarnation);
  return found != nullptr ? found->name : "someone";
}

void Chief::told(std::uint32_t incarnation, wire::Type type, std::string_view meta) {
  Present& member = present_.at(incarnation);
  member.heard = Clock::now();
  if (type == wire::HEARTBEAT) {
    heard(incarnation, parsed<wire::Heartbeat>(meta));
  } else if (type == wire::READY) {
    const bool before = core_->started();
    const auto& actions = core_->ready(incarnation);
    if (!before && core_->started()) {
      journal_.begun(core_->examples_done());
      progressed_ = Clock::now();
    }
    carry_out(actions);
  } else if (type == wire::COMPLETE) {
    carry_out(core_->complete(incarnation, parsed<wire::Complete>(meta)));
  } else if (type == wire::FENCED) {
    carry_out(core_->fenced(incarnation, parsed<wire::Fenced>(meta)));
  } else if (type == wire::PREPARED) {
    carry_out(core_->prepared(incarnation, parsed<wire::Prepared>(meta)));
  } else if (type == wire::COMMITTED) {
    member.connection->finished = journal_.elapsed();
    carry_out(core_->committed(incarnation, parsed<wire::Committed>(meta)));
  } else if (type == wire::SCALARS) {
    carry_out(core_->scalars(incarnation, parsed<wire::Scalars>(meta)));
  } else if (type == wire::EVALUATED) {
    const auto evaluated = parsed<wire::Evaluated>(meta);
    journal_.evaluated(evaluated);
    carry_out(core_->evaluated(evaluated));
  } else if (type == wire::WORKER_EPOCH) {
    journal_.worker_epoch(member.connection->name, parsed<wire::WorkerEpoch>(meta));
  } else if (type == wire::STOPPED) {
    carry_out(core_->stopped(incarnation, parsed<wire::Stopped>(meta)));
  } else if (type == wire::STOP) {
    carry_out(core_->stop(parsed<wire::Stop>(meta).reason(), true));
  } else if (type == wire::GOODBYE) {
    const auto goodbye = parsed<wire::Goodbye>(meta);
    heard(incarnation, goodbye.last());
    member.connection->goodbye = goodbye.error();
    if (ended_ && all_gone()) loop_.stop();
  } else {
    throw FrameError(
        fmt::format("the chief does not know message type {}", static_cast<int>(type)));
  }
}

void Chief::heard(std::uint32_t incarnation, const wire::Heartbeat& beat) {
  Present& member = present_.at(incarnation);
  if (beat.quiet() && !member.figures.quiet()) {
    if (role_.config.mode == Mode::kSync) member.connection->finished = journal_.elapsed();
    carry_out(core_->quiet(incarnation));
  }
  member.figures = beat;
}

void Chief::lost(std::uint32_t incarnation, const std::string& reason) {
  if (!ended_) {
    carry_out(core_->lost(incarnation, reason));
  } else if (all_gone()) {
    loop_.stop();
  }
}

void Chief::look_after_members() {
  const TimePoint now = Clock::now();
  for (auto& [incarnation, member] : present_) {
    const ClusterMember* known = core_->member(incarnation);
    if (known == nullptr || !known->live || ended_) continue;
    const Duration silence = now - member.heard;
    if (silence < role_.config.member_timeout) continue;
    const std::string reason =
        fmt::format("nothing heard from it for {} (--member-timeout)", format_duration(silence));
    member.connection->link().close(reason);
    lost(incarnation, reason);
    return;  // the map may have changed
  }
}

// A step that does not end although everyone is alive is said out loud, with who owes what.
void Chief::look_for_stalls() {
  if (!core_->started() || ended_) return;
  const Duration still = Clock::now() - progressed_;
  if (still < role_.config.deadline / 4 || stall_told_) return;
  stall_told_ = true;
  std::string waits;
  for (const auto& [incarnation, member] : present_) {
    if (member.figures.waiting().empty()) continue;
    waits += fmt::format("; {} waits for {}, for {:.0f} s", member.connection->name,
                         member.figures.waiting(), member.figures.waiting_seconds());
  }
  const std::string owing = core_->owners(core_->watermark(), missing_);
  journal_.warning(fmt::format(
      "no progress for {} at step {}{}{}. If these roles are alive but slow, raise --deadline",
      format_duration(still), core_->watermark(),
      owing.empty() ? "" : ": contributions are missing from " + owing, waits));
}

// ---- actions ---------------------------------------------------------------------------

void Chief::send(std::uint32_t incarnation, const ChiefMessage& message) {
  const auto found = present_.find(incarnation);
  if (found == present_.end()) return;
  std::visit(
      [&](const auto& content) {
        FrameHeader header;
        header.type = static_cast<std::uint16_t>(TypeOf()(content));
        found->second.connection->link().send(header, content.SerializeAsString());
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
        stall_told_ = false;
      }
      missing_.clear();
      for (const auto& gap : progress->sums.missing()) missing_.push_back({gap.begin(), gap.end()});
      journal_.progress(progress->examples, progress->sums);
    } else if (const auto* epoch = std::get_if<EpochTrained>(&action)) {
      journal_.epoch_trained(epoch->epoch, epoch->version);
    } else if (const auto* checkpoint = std::get_if<SaveCheckpoint>(&action)) {
      save(*checkpoint);
    } else if (const auto* notice = std::get_if<Notice>(&action)) {
      journal_.notice(notice->text);
    } else if (const auto* ended = std::get_if<RunEnded>(&action)) {
      end(*ended);
    }
  }
}

void Chief::save(const SaveCheckpoint& checkpoint) {
  if (!saver_) {
    PsAddress address;
    for (const auto& [incarnation, member] : core_->members()) {
      if (member.role == Role::kServer) address.servers.push_back(member.address);
    }
    address.run = run_id(role_.digest);
    address.digest = role_.digest;
    address.role = "chief";
    address.name = role_.name;
    saver_ = std::make_unique<Saver>(
        role_.config, parts_.chunks, address,
        [this](std::uint64_t version, const std::string& error) {
          loop_.post([this, version, error] {
            if (!error.empty()) {
              failure_ = ExitCode::kData;
              journal_.warning("the checkpoint could not be written: " + error);
              carry_out(core_->stop("the checkpoint of version " + std::to_string(version) +
                                        " could not be written: " + error,
                                    true));
            }
            carry_out(core_->saved(version));
          });
        });
  }
  CheckpointInfo info;
  info.layout = parts_.model->layout();
  info.model = role_.config.model;
  info.optimizer = paceline::name_of(role_.config.optimizer.kind);
  info.slots = Optimizer(role_.config.optimizer).slots();
  info.version = checkpoint.version;
  info.examples = parts_.grid.examples_before(checkpoint.version);
  info.epoch = parts_.grid.epoch_of(checkpoint.version);
  if (role_.config.mode != Mode::kSync && !checkpoint.complete_epoch) {
    info.applied = core_->leases_done().ranges();
    info.examples = core_->examples_done();
  }
  info.config = read_text(role_.config.run_dir / "config.toml");
  saver_->save(std::move(info));
}

void Chief::end(const RunEnded& ended) {
  if (ended_) return;
  ended_ = ended;
  hurry_ = loop_.after(kGrace, [this] { loop_.stop(); });
  if (all_gone()) loop_.stop();
}

bool Chief::all_gone() const {
  for (const auto& [incarnation, member] : present_) {
    const ClusterMember* known = core_->member(incarnation);
    if (known != nullptr && known->live && !member.connection->goodbye &&
        member.connection->link().open()) {
      return false;
    }
  }
  return true;
}

void run_chief(const RoleContext& role) {
  block_signals({SIGTERM, SIGINT});
  const RunConfig& config = role.config;
  Address address;
  if (config.transport == Transport::kTcp) {
    address = {Address::Kind::kTcp, config.listen, config.port};
  } else {
    address = {Address::Kind::kUnix,
               role.chief.empty() ? "chief.sock" : Address::parse(role.chief).host, 0};
  }
  Chief chief(role, address);
  const SignalWatcher signals({SIGTERM, SIGINT}, [&](int) { chief.interrupt(); });
  chief.run();
}

}  // namespace paceline
