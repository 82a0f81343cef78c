#include "cluster/launcher.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <span>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/file/read_at.h"
#include "net/endpoint.h"
#include "session/failure.h"

namespace paceline {

namespace fs = std::filesystem;

namespace {

// The longest line of an Error, all of whose bytes are escaped, is shorter.
constexpr std::size_t kMostFailureBytes = std::size_t{8} << 20;

std::string content_of(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return {};
  std::string text(std::min(static_cast<std::size_t>(status.st_size), kMostFailureBytes), '\0');
  text.resize(read_at(fd, 0, std::as_writable_bytes(std::span(text))).value_or(0));
  return text;
}

}  // namespace

LocalLauncher::~LocalLauncher() {
  wait_all(Clock::now());
}

void LocalLauncher::start(const std::string& name, std::vector<std::string> arguments, int keep) {
  Descriptor failure(::memfd_create("failure", MFD_CLOEXEC));
  if (!failure.valid()) throw Error("memfd_create: " + errno_text(errno));
  Command command;
  command.arguments = std::move(arguments);
  command.arguments.insert(command.arguments.end(),
                           {"--failure-fd", std::to_string(failure.get())});
  command.output = log_dir_ / (name + ".log");
  command.keep.push_back(failure.get());
  if (keep >= 0) command.keep.push_back(keep);
  command.dies_with_parent = true;
  command.own_group = true;
  const pid_t pid = paceline::start(command);
  children_.push_back({{name, pid, std::nullopt, std::nullopt}, failure.take()});
}

void LocalLauncher::settle(Started& child, const Finished& finished) {
  child.finished = finished;
  child.failure = read_failure_line(content_of(child.failure_fd));
  ::close(std::exchange(child.failure_fd, -1));
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
  const fs::path parent = "/tmp";
  const std::string prefix = "paceline-";
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    const std::string name = entry.path().filename();
    struct stat status {};
    pid_t owner = 0;
    if (!name.starts_with(prefix) || ::lstat(entry.path().c_str(), &status) != 0 ||
        status.st_uid != ::getuid() || !S_ISDIR(status.st_mode)) {
      continue;
    }
    std::from_chars(name.data() + prefix.size(), name.data() + name.size(), owner);
    if (owner > 0 && ::kill(owner, 0) != 0 && errno == ESRCH) fs::remove_all(entry.path(), ignored);
  }
  std::string pattern = (parent / (prefix + std::to_string(::getpid()) + "-XXXXXX")).string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw DataError("cannot make a folder for sockets at {}: {}", pattern, errno_text(errno));
  }
  path_ = pattern;
}

SocketFolder::~SocketFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace paceline
