// Starts the roles of a run on this machine, watches them, and sees that none is left.
//
// Every role dies with the launcher's process, however that ends (the kernel sees to it).
// Call everything from the thread that made the launcher.
//
// Each is given two descriptors of files in memory: one to read what it is to be, one to say why it
// fails.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/file/lock.h"
#include "base/file/memory_file.h"
#include "base/process.h"

namespace paceline {

class LocalLauncher {
 public:
  explicit LocalLauncher(std::filesystem::path log_dir) : log_dir_(std::move(log_dir)) {}
  ~LocalLauncher();  // kills what still runs
  LocalLauncher(const LocalLauncher&) = delete;
  LocalLauncher& operator=(const LocalLauncher&) = delete;

  struct Child {
    std::string name;
    pid_t pid = 0;
    std::optional<Finished> finished;
    std::optional<Error> failure;  // as it has said when it ended
  };

  // Starts `arguments` (the program first) with `--spec-fd N`, where the child reads `spec`, and
  // `--failure-fd N`, where it writes a line of session/failure.h if it fails. Its output goes to
  // LOG_DIR/NAME.log. `keep` is another descriptor it inherits, or −1.
  void start(const std::string& name, std::vector<std::string> arguments, std::string_view spec,
             int keep = -1);

  // Children that have ended since the last call.
  std::vector<Child> ended();
  bool running(const std::string& name) const;
  std::size_t running_count() const;
  void signal(const std::string& name, int signal);
  void signal_all(int signal);

  // Waits until all have ended, at most until `deadline`; then kills the rest.
  void wait_all(TimePoint deadline);

 private:
  struct Started : Child {
    std::optional<MemoryFile> failure_file;  // while it runs
  };
  static void settle(Started& child, const Finished& finished);

  std::filesystem::path log_dir_;
  std::vector<Started> children_;
};

// A private folder for sockets in /tmp, "paceline-PID-" and six letters, locked while it is in use
// and removed at the end. What launchers that were killed have left is removed on the way: sockets,
// and the folders of just this name that they were in, nothing else.
class SocketFolder {
 public:
  SocketFolder();
  ~SocketFolder();
  SocketFolder(const SocketFolder&) = delete;
  SocketFolder& operator=(const SocketFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::optional<FileLock> lock_;
};

}  // namespace paceline
