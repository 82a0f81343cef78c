#include "cluster/launcher.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <fstream>
#include <thread>

#include "base/error.h"

namespace paceline {

namespace fs = std::filesystem;

LocalLauncher::~LocalLauncher() {
  wait_all(Clock::now());
}

void LocalLauncher::start(const std::string& name, std::vector<std::string> arguments, int keep) {
  Command command;
  command.arguments = std::move(arguments);
  command.output = log_dir_ / (name + ".log");
  if (keep >= 0) command.keep.push_back(keep);
  command.dies_with_parent = true;
  command.own_group = true;
  std::error_code missing;
  const std::uintmax_t size = fs::file_size(command.output, missing);
  children_.push_back({name, paceline::start(command), std::nullopt, missing ? 0 : size});
}

std::vector<LocalLauncher::Child> LocalLauncher::ended() {
  std::vector<Child> now;
  for (Child& child : children_) {
    if (child.finished) continue;
    Finished finished;
    if (::waitpid(child.pid, &finished.status, WNOHANG) == child.pid) {
      child.finished = finished;
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
  for (Child& child : children_) {
    if (child.finished) continue;
    Finished finished;
    while (::waitpid(child.pid, &finished.status, 0) < 0 && errno == EINTR) {
    }
    child.finished = finished;
  }
}

std::string LocalLauncher::last_words(const std::string& name) const {
  constexpr std::string_view kMark = "paceline: ";
  std::ifstream log(log_dir_ / (name + ".log"));
  for (const Child& child : children_) {
    if (child.name == name) log.seekg(static_cast<std::streamoff>(child.log_begin));
  }
  std::string found;
  for (std::string line; std::getline(log, line);) {
    if (line.starts_with(kMark)) found = line.substr(kMark.size());
  }
  return found;
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
