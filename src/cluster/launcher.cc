#include "cluster/launcher.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.h"
#include "session/failure.h"

namespace paceline {

namespace fs = std::filesystem;

namespace {

constexpr const char* kParent = "/tmp";  // a socket's whole path has 107 bytes at most
constexpr std::string_view kPrefix = "paceline-";
constexpr std::size_t kRandomLetters = 6;

// The process id in "paceline-123-aBcDeF"; nothing for any other name.
std::optional<pid_t> owner_in(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  pid_t owner = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), owner);
  const std::string_view rest(end, static_cast<std::size_t>(name.data() + name.size() - end));
  const bool ours = error == std::errc() && owner > 0 && rest.size() == 1 + kRandomLetters &&
                    rest.starts_with('-') && std::ranges::all_of(rest.substr(1), [](char c) {
                      return std::isalnum(static_cast<unsigned char>(c)) != 0;
                    });
  return ours ? std::optional(owner) : std::nullopt;
}

// And the folder, unless something else is in it.
void remove_sockets(const fs::path& folder) {
  std::error_code ignored;
  std::vector<fs::path> sockets;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.symlink_status(ignored).type() == fs::file_type::socket) {
      sockets.push_back(entry.path());
    }
  }
  for (const fs::path& socket : sockets) fs::remove(socket, ignored);
  ::rmdir(folder.c_str());
}

// Those of launchers that were killed. A process of another container may not be seen from here:
// but it holds its lock.
void remove_abandoned_folders() {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(kParent, ignored)) {
    struct stat status {};
    const auto owner = owner_in(entry.path().filename().string());
    if (!owner || ::lstat(entry.path().c_str(), &status) != 0 || status.st_uid != ::getuid() ||
        !S_ISDIR(status.st_mode) || ::kill(*owner, 0) == 0 || errno != ESRCH) {
      continue;
    }
    try {
      const auto lock = FileLock::try_lock(entry.path());
      if (lock && lock->held()) remove_sockets(entry.path());
    } catch (const DataError&) {  // it is gone already
    }
  }
}

// The longest line of an Error, all of whose bytes are escaped, is shorter.
constexpr std::size_t kMostFailureBytes = std::size_t{8} << 20;

}  // namespace

LocalLauncher::~LocalLauncher() {
  wait_all(Clock::now());
}

void LocalLauncher::start(const std::string& name, std::vector<std::string> arguments,
                          std::string_view spec, int keep) {
  const MemoryFile spec_file("spec", spec);
  MemoryFile failure("failure");
  Command command;
  command.arguments = std::move(arguments);
  command.arguments.insert(command.arguments.end(),
                           {"--spec-fd", std::to_string(spec_file.descriptor()), "--failure-fd",
                            std::to_string(failure.descriptor())});
  command.output = log_dir_ / (name + ".log");
  command.keep = {spec_file.descriptor(), failure.descriptor()};
  if (keep >= 0) command.keep.push_back(keep);
  command.dies_with_parent = true;
  command.own_group = true;
  const pid_t pid = paceline::start(command);
  children_.push_back({{name, pid, std::nullopt, std::nullopt}, std::move(failure)});
}

void LocalLauncher::settle(Started& child, const Finished& finished) {
  child.finished = finished;
  child.failure =
      read_failure_line(content_of(child.failure_file->descriptor(), kMostFailureBytes));
  child.failure_file.reset();
}

std::vector<LocalLauncher::Child> LocalLauncher::ended() {
  std::vector<Child> now;
  for (Started& child : children_) {
    if (child.finished) continue;
    Finished finished;
    if (::waitpid(child.pid, &finished.status, WNOHANG) == child.pid) {
      settle(child, finished);
      now.push_back(child);
    }
  }
  return now;
}

bool LocalLauncher::running(const std::string& name) const {
  for (const Child& child : children_) {
    if (child.name == name) return !child.finished;
  }
  return false;
}

std::size_t LocalLauncher::running_count() const {
  return static_cast<std::size_t>(std::count_if(
      children_.begin(), children_.end(), [](const Child& child) { return !child.finished; }));
}

void LocalLauncher::signal(const std::string& name, int signal) {
  for (const Child& child : children_) {
    if (child.name == name && !child.finished) ::kill(child.pid, signal);
  }
}

void LocalLauncher::signal_all(int signal) {
  for (const Child& child : children_) {
    if (!child.finished) ::kill(child.pid, signal);
  }
}

void LocalLauncher::wait_all(TimePoint deadline) {
  while (ended(), running_count() > 0 && Clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  signal_all(SIGKILL);
  for (Started& child : children_) {
    if (child.finished) continue;
    Finished finished;
    while (::waitpid(child.pid, &finished.status, 0) < 0 && errno == EINTR) {
    }
    settle(child, finished);
  }
}

SocketFolder::SocketFolder() {
  remove_abandoned_folders();
  for (int tries = 0;; ++tries) {
    std::string pattern = fmt::format("{}/{}{}-XXXXXX", kParent, kPrefix, ::getpid());
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw DataError("cannot make a folder for sockets at {}: {}", pattern, errno_text(errno));
    }
    path_ = pattern;
    // Before it was locked, another launcher may have taken it for abandoned.
    try {
      lock_ = FileLock::wait(path_);
      if (lock_->is_of(path_) || !lock_->held()) return;
    } catch (const DataError&) {
      if (tries > 10) throw;
    }
  }
}

SocketFolder::~SocketFolder() {
  remove_sockets(path_);
}

}  // namespace paceline
