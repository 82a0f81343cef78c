#include "train/run.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/process.h"
#include "base/signals.h"
#include "checkpoint/checkpoint.h"
#include "cluster/launcher.h"
#include "train/memory.h"
#include "train/parts.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr Duration kLeave = std::chrono::seconds(2);  // for roles to end after the chief

// Held while a run directory is trained in: two runs there would mix what they write.
class RunDirLock {
 public:
  explicit RunDirLock(const fs::path& dir)
      : folder_(::open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (folder_ < 0 || ::flock(folder_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    ::close(folder_);
    throw ConfigError("another process is training in {}: wait for it, or choose another --run-dir",
                      dir.string());
  }
  ~RunDirLock() {
    if (folder_ >= 0) ::close(folder_);
  }
  RunDirLock(const RunDirLock&) = delete;
  RunDirLock& operator=(const RunDirLock&) = delete;

 private:
  int folder_;
};

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw DataError("cannot make the run directory {}: {}", folder.string(), error.message());
  }
}

// The lock on it is taken.
void fill_run_dir(const fs::path& dir, const fs::path& resume) {
  if (fs::exists(dir / "config.toml") && resume != dir) {
    throw ConfigError(
        "{} already has a run: choose another --run-dir, or go on from it with "
        "--resume {}",
        dir.string(), dir.string());
  }
  make_folder(dir / "logs");
  make_folder(dir / "checkpoints");
}

// Versions count steps, so a step must be what it was.
void check_resume(const RunConfig& config, const RunParts& parts) {
  if (config.resume.empty()) return;
  const CheckpointReader reader(find_checkpoint(config.resume));
  reader.expect_layout(parts.model->layout());
  const CheckpointInfo& info = reader.info();
  if (const std::string steps = steps_in_words(config, parts.grid); info.steps != steps) {
    throw ConfigError(
        "cannot resume {}: it was trained on {}, and this run would go on with {}. Use the data, "
        "batch, order and seed it was started with",
        config.resume.string(), info.steps, steps);
  }
  if (!info.applied.empty() && config.mode == Mode::kSync) {
    throw ConfigError(
        "cannot resume {} in sync mode: it was stopped in the middle of an "
        "asynchronous epoch. Use --mode async or ssp, or an earlier checkpoint",
        config.resume.string());
  }
  if (info.version >= parts.last_version) {
    throw ConfigError("{} has already been trained for {} epochs: raise --epochs to go on",
                      config.resume.string(), info.epoch);
  }
}

// JSON has no word for a loss that is not finite: it is null there.
double number(const nlohmann::json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

// Turns the chief's lines into calls of the reporter.
class StatusLines {
 public:
  explicit StatusLines(Reporter& reporter) : reporter_(reporter) {}

  // Reads what is there; false at the end.
  bool read(int fd) {
    std::array<char, 65536> block;
    const ssize_t got = ::read(fd, block.data(), block.size());
    if (got <= 0) return got < 0 && errno == EINTR;
    buffer_.append(block.data(), static_cast<std::size_t>(got));
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = buffer_.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      handle(nlohmann::json::parse(buffer_.substr(begin, end - begin)));
    }
    buffer_.erase(0, begin);
    return true;
  }

  const std::string& address() const { return address_; }
  bool begun() const { return begun_; }

 private:
  void handle(const nlohmann::json& line) {
    const std::string type = line["type"];
    if (type == "address") {
      address_ = line["address"];
    } else if (type == "begun") {
      begun_ = true;
    } else if (type == "progress") {
      RunProgress progress{line["epoch"],
                           line["epochs"],
                           line["examples_done"],
                           line["examples_total"],
                           line["examples_per_second"],
                           number(line["loss"]),
                           {}};
      if (progress.examples_per_second > 0) {
        progress.eta =
            from_seconds(static_cast<double>(progress.examples_total - progress.examples_done) /
                         progress.examples_per_second);
      }
      reporter_.progress(progress);
    } else if (type == "epoch") {
      reporter_.epoch({line["epoch"], line["epochs"], number(line["train_loss"]),
                       number(line["test_accuracy"]), from_seconds(line["seconds"])});
    } else if (type == "notice") {
      reporter_.notice(line["text"]);
    } else if (type == "warning") {
      reporter_.warning(line["text"]);
    } else if (type == "summary") {
      reporter_.summary(line["summary"]);
    }
  }

  Reporter& reporter_;
  std::string buffer_;
  std::string address_;
  bool begun_ = false;
};

class LocalRun {
 public:
  LocalRun(const RunConfig& config, Reporter& reporter)
      : config_(config), launcher_(config.run_dir / "logs"), status_(reporter) {
    if (::pipe2(pipe_.data(), O_CLOEXEC) != 0) throw Error("pipe: " + errno_text(errno));
  }
  ~LocalRun() { ::close(pipe_[0]); }

  void run() {
    const SignalWatcher signals({SIGINT, SIGTERM, SIGHUP}, [this](int) { ++asked_; });
    start("chief", "chief", "unix:" + (sockets_.path() / "chief.sock").string(), pipe_[1]);
    ::close(pipe_[1]);
    bool others = false;
    while (open_ || launcher_.running("chief")) {
      wait_for_status();
      if (!others && !status_.address().empty() && asked_ == 0) {
        start_others();
        others = true;
      }
      pass_on_signals();
      for (const auto& child : launcher_.ended()) consider(child);
      if (!open_ && !launcher_.running("chief")) break;
    }
    launcher_.wait_all(Clock::now() + kLeave);
    report_end();
  }

 private:
  void start(const std::string& name, const std::string& role, const std::string& chief,
             int status_fd) {
    std::vector<std::string> arguments = {this_executable(),
                                          "role",
                                          role,
                                          "--config",
                                          (config_.run_dir / "config.toml").string(),
                                          "--name",
                                          name,
                                          "--chief",
                                          chief};
    if (status_fd >= 0) {
      arguments.insert(arguments.end(), {"--announce-fd", std::to_string(status_fd)});
    }
    launcher_.start(name, std::move(arguments), status_fd);
  }

  void start_others() {
    for (std::uint64_t i = 0; i < config_.servers; ++i) {
      start("server" + std::to_string(i), "server", status_.address(), -1);
    }
    for (std::uint64_t i = 0; i < config_.workers; ++i) {
      start("worker" + std::to_string(i), "worker", status_.address(), -1);
    }
    start("evaluator0", "evaluator", status_.address(), -1);
  }

  void wait_for_status() {
    pollfd ready{open_ ? pipe_[0] : -1, POLLIN, 0};
    if (::poll(&ready, 1, 20) > 0 && open_) open_ = status_.read(pipe_[0]);
  }

  // Once: the chief saves and ends the run. Twice: now.
  void pass_on_signals() {
    const int asked = asked_;
    if (asked > passed_ && asked == 1) launcher_.signal("chief", SIGTERM);
    if (asked > passed_ && asked > 1) launcher_.signal_all(SIGKILL);
    passed_ = asked;
  }

  // A role that fails before the run has begun would be waited for in vain.
  void consider(const LocalLauncher::Child& child) {
    const bool ok = child.finished->status == 0;
    if (child.name == "chief") chief_status_ = child.finished->status;
    if (ok || child.name == "chief" || status_.begun() || asked_ > 0 || failed_role_) return;
    failed_role_ = child;
    launcher_.signal("chief", SIGTERM);
  }

  void report_end() {
    if (failed_role_ && WIFEXITED(failed_role_->finished->status)) {
      throw_words_of(failed_role_->name, failed_role_->finished->status);
    }
    if (chief_status_ == 0) return;
    if (asked_ > 0) throw Interrupted(interrupted_text());
    throw_words_of("chief", chief_status_);
  }

  [[noreturn]] void throw_words_of(const std::string& name, int status) {
    std::string words = launcher_.last_words(name);
    if (words.empty()) {
      words = Finished{status}.describe() + "; its log is " +
              (config_.run_dir / "logs" / (name + ".log")).string();
    }
    const auto code =
        WIFEXITED(status) ? static_cast<ExitCode>(WEXITSTATUS(status)) : ExitCode::kInternal;
    throw Error(name == "chief" ? words : name + ": " + words, code);
  }

  std::string interrupted_text() const {
    const auto checkpoints = list_checkpoints(config_.run_dir);
    if (checkpoints.empty()) return "interrupted; there is no checkpoint yet";
    return fmt::format("interrupted; saved as {}. Go on with: paceline train --resume {}",
                       checkpoints.back().string(), config_.run_dir.string());
  }

  RunConfig config_;
  SocketFolder sockets_;
  LocalLauncher launcher_;
  StatusLines status_;
  std::array<int, 2> pipe_{};
  bool open_ = true;
  std::atomic<int> asked_ = 0;  // how often someone asked to stop
  int passed_ = 0;
  int chief_status_ = 0;
  std::optional<LocalLauncher::Child> failed_role_;
};

}  // namespace

void train_with_processes(const RunConfig& config, Reporter& reporter) {
  LocalRun(config, reporter).run();
}

void train(const RunConfig& config, const std::string& config_text, Reporter& reporter) {
  {
    const RunParts parts = make_parts(config);
    check_resume(config, parts);
    check_memory(estimate_memory(config, parts),
                 config.memory_limit > 0 ? config.memory_limit : available_memory());
  }
  make_folder(config.run_dir);
  const RunDirLock lock(config.run_dir);
  fill_run_dir(config.run_dir, config.resume);
  write_atomically(config.run_dir / "config.toml", config_text);
  if (config.exchange == ExchangeKind::kLocal) {
    train_with_threads(config, reporter);
  } else {
    train_with_processes(config, reporter);
  }
}

}  // namespace paceline
