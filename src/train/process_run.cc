// A run whose roles are processes on this machine, seen from the process that starts them.
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/process.h"
#include "base/signals.h"
#include "base/units.h"
#include "cluster/hosts.h"
#include "cluster/launcher.h"
#include "train/keeper.h"
#include "train/run.h"
#include "train/status_lines.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr Duration kLeave = std::chrono::milliseconds(500);  // for roles to end after the chief

class ProcessRun {
 public:
  ProcessRun(const RunSpec& spec, Reporter& reporter)
      : config_(spec.config),
        spec_(encode_spec(spec)),
        reporter_(reporter),
        hosts_(parse_hosts(config_.hosts)),
        launcher_(config_.run_dir / "logs"),
        status_(reporter) {
    if (::pipe2(pipe_.data(), O_CLOEXEC) != 0) throw Error("pipe: " + errno_text(errno));
  }
  ~ProcessRun() { ::close(pipe_[0]); }

  void run() {
    const SignalWatcher signals({SIGINT, SIGTERM, SIGHUP, SIGTSTP}, [this](int signal) {
      if (signal == SIGTSTP) {
        pause_ = true;
      } else if (asked_ == 0 || signal == SIGINT) {
        ++asked_;  // other signals come twice: to the process, and to its group
      }
    });
    alone_since_ = looked_ = Clock::now();
    start("chief", 0, "unix:" + (sockets_.path() / "chief.sock").string(), pipe_[1]);
    ::close(pipe_[1]);
    while (open_ || launcher_.running("chief")) {
      wait_for_status();
      if (!others_ && !status_.address().empty() && asked_ == 0) start_others();
      if (pause_.exchange(false)) pause();
      pass_on_signals();
      for (const auto& child : launcher_.ended()) consider(child);
      look_after_chief();
    }
    launcher_.wait_all(Clock::now() + kLeave);
    report_end();
  }

 private:
  // Number `number` of the role; there is one chief.
  void start(const std::string& role, std::uint64_t number, const std::string& chief,
             int status_fd = -1) {
    const std::string name = role == "chief" ? role : role + std::to_string(number);
    wire::RoleSpec spec;
    *spec.mutable_run() = spec_;
    spec.set_role(role);
    spec.set_name(name);
    spec.set_chief(chief);
    std::vector<std::string> arguments;
    if (!hosts_.empty()) {
      const Host& host = hosts_[number % hosts_.size()];
      arguments = host.prefix();
      spec.set_listen(host.address);
    }
    arguments.insert(arguments.end(), {this_executable(), "role", name});
    if (status_fd >= 0) {
      arguments.insert(arguments.end(), {"--announce-fd", std::to_string(status_fd)});
    }
    launcher_.start(name, std::move(arguments), spec.SerializeAsString(), status_fd);
  }

  void start_others() {
    others_ = true;
    const bool servers = config_.exchange == ExchangeKind::kPs;
    for (std::uint64_t i = 0; servers && i < config_.servers; ++i) {
      start("server", i, status_.address());
    }
    for (std::uint64_t i = 0; i < config_.workers; ++i) {
      start("worker", i, status_.address());
    }
    start("evaluator", 0, status_.address());
  }

  void wait_for_status() {
    pollfd ready{open_ ? pipe_[0] : -1, POLLIN, 0};
    if (::poll(&ready, 1, 20) > 0 && open_) open_ = status_.read(pipe_[0]);
  }

  // Once: the chief saves and ends the run. Ctrl-C after that: now.
  void pass_on_signals() {
    const int asked = asked_;
    if (asked > 0 && passed_ == 0) {
      asked_at_ = Clock::now();
      launcher_.signal("chief", SIGTERM);
      if (!status_.hears()) {
        reporter_.notice(
            fmt::format("the chief is {}; Ctrl-C again ends it at once", status_.doing()));
      }
    }
    if (asked > 1 && asked > passed_) launcher_.signal_all(SIGKILL);
    passed_ = asked;
  }

  // Ctrl-Z stops the roles, which are in process groups of their own, as well.
  void pause() {
    launcher_.signal_all(SIGSTOP);
    reporter_.notice("paused");
    ::raise(SIGSTOP);
    launcher_.signal_all(SIGCONT);
  }

  // A role that fails before the run has begun would be waited for in vain.
  void consider(const LocalLauncher::Child& child) {
    const bool ok = child.finished->status == 0;
    if (child.name == "chief") chief_ = child;
    if (WIFSIGNALED(child.finished->status)) killed_.push_back(child);
    if (ok || child.name == "chief" || status_.begun() || asked_ > 0 || failed_role_) return;
    failed_role_ = child;
    launcher_.signal("chief", SIGTERM);
  }

  // One that is stopped or hangs does not hear us: then all others leave it, after a while,
  // and it is waited for no longer.
  void look_after_chief() {
    if (!launcher_.running("chief") || silent_chief_) return;
    const TimePoint now = Clock::now();
    const bool slept = now - std::exchange(looked_, now) > std::chrono::seconds(1);
    const bool got_on = std::exchange(farewells_, status_.farewells()) < status_.farewells();
    if (launcher_.running_count() > 1 || slept || got_on) alone_since_ = now;
    if (slept) asked_at_ = now;
    const bool deaf = passed_ == 1 && !status_.stopping() && !status_.leaving() &&
                      now - asked_at_ > config_.member_timeout;
    if (!deaf && now - alone_since_ < chief_may_be_alone()) return;
    silent_chief_ = true;
    launcher_.signal("chief", SIGKILL);
  }

  Duration chief_may_be_alone() const {
    if (!others_) return config_.start_timeout;
    return status_.leaving() ? config_.deadline : config_.member_timeout;  // it may be saving
  }

  void report_end() {
    // It had ended by itself when a thread of it still hung in the kernel: then its words count.
    silent_chief_ = silent_chief_ && WIFSIGNALED(chief_->finished->status);
    if (silent_chief_ && status_.leaving() && (asked_ == 0 || chief_->failure)) {
      const std::string words = fmt::format(
          "the chief made no progress for {} (--deadline) while {} and was ended. If its disk is "
          "only "
          "slow, raise --deadline",
          format_duration(config_.deadline), status_.doing());
      if (!chief_->failure) throw CommError("{}", words);
      Error failure = explained(*chief_->failure);
      failure.add_remark(". Then " + words);
      throw failure;
    }
    if (silent_chief_ && asked_ == 0) {
      throw CommError("the chief did not answer {} for {} and was ended",
                      others_ ? "the other roles" : "its launcher",
                      format_duration(chief_may_be_alone()));
    }
    if (silent_chief_) {
      reporter_.warning("the chief did not answer and was ended: what it had not saved is lost");
    }
    if (failed_role_) throw_failure_of(*failed_role_);
    if (chief_->finished->ok()) return;
    if (asked_ > 0 && (chief_stopped() || WIFSIGNALED(chief_->finished->status))) {
      throw Interrupted("interrupted");
    }
    throw_failure_of(*chief_);  // also when that was while it stopped
  }

  // As it was asked to: what was learned is saved.
  bool chief_stopped() const {
    const int status = chief_->finished->status;
    return WIFEXITED(status) && WEXITSTATUS(status) == static_cast<int>(ExitCode::kInterrupted);
  }

  // The chief only sees that a line has ended; how its process has, its parent knows.
  Error explained(Error failure) const {
    for (const LocalLauncher::Child& child : killed_) {
      const CommError cause("it {}", child.finished->describe());
      failure.explain(child.name, cause);
      failure.explain(keeper_name(child.name), cause);
    }
    return failure;
  }

  [[noreturn]] void throw_failure_of(const LocalLauncher::Child& child) const {
    const std::string& name = child.name;
    const int status = child.finished->status;
    if (WIFEXITED(status) && child.failure) {
      const Error failure = explained(*child.failure);
      if (name == "chief") throw Error(failure);
      throw Error(failure, name, failure.code());
    }
    std::string text = fmt::format("{} {}", name, child.finished->describe());
    if (WIFEXITED(status)) {
      std::error_code ignored;
      const fs::space_info disk = fs::space(config_.run_dir, ignored);
      text += fmt::format(" and said nothing; {} has {} left, its log is {}",
                          config_.run_dir.string(), format_bytes(disk.available),
                          (config_.run_dir / "logs" / (name + ".log")).string());
    }
    throw Error(text, WIFEXITED(status) ? static_cast<ExitCode>(WEXITSTATUS(status))
                                        : ExitCode::kCommunication);
  }

  RunConfig config_;
  wire::RunSpec spec_;
  Reporter& reporter_;
  std::vector<Host> hosts_;
  SocketFolder sockets_;
  LocalLauncher launcher_;
  StatusLines status_;
  std::array<int, 2> pipe_{};
  bool open_ = true;
  bool others_ = false;  // have been started
  std::atomic<bool> pause_ = false;
  std::atomic<int> asked_ = 0;  // how often someone asked to stop
  int passed_ = 0;
  TimePoint asked_at_;
  TimePoint looked_;       // after the chief
  TimePoint alone_since_;  // the chief, left by all others or not yet joined, does not get on
  std::uint64_t farewells_ = 0;
  bool silent_chief_ = false;
  std::optional<LocalLauncher::Child> chief_;  // when it has ended
  std::optional<LocalLauncher::Child> failed_role_;
  std::vector<LocalLauncher::Child> killed_;  // by signals
};

}  // namespace

void train_with_processes(const RunSpec& spec, Reporter& reporter) {
  ProcessRun(spec, reporter).run();
}

}  // namespace paceline
