// Runs the real binary, as a user would, and looks at what it leaves.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace paceline {

class PacelineProcess {
 public:
  // Starts `[WRAPPER…] paceline ARGUMENTS…`; output goes to a file in `dir`.
  PacelineProcess(const std::filesystem::path& dir, std::vector<std::string> arguments,
                  std::vector<std::string> wrapper = {});
  ~PacelineProcess();  // kills it if it still runs

  pid_t pid() const { return pid_; }
  int wait();  // its exit code; −signal when a signal ended it. Fails the test after 60 s
  std::string output() const;
  void signal(int signal) const;

  // Process ids of its roles whose name starts with `prefix`; waits until there are
  // `count`, at most 20 s.
  std::vector<pid_t> roles(const std::string& prefix, std::size_t count) const;

 private:
  std::filesystem::path output_;
  pid_t pid_ = -1;
  std::optional<int> code_;
};

// Runs to the end.
struct Result {
  int code;
  std::string output;
};
Result paceline(const std::filesystem::path& dir, std::vector<std::string> arguments);

// A loopback port that nobody listens on, or one that somebody does as long as it lives.
std::uint16_t free_port();
struct Taken {
  int socket;
  std::uint16_t port;
  ~Taken() { ::close(socket); }
};
Taken take_port();

// While it lives, the main thread of a role that the test has started stands still; the others go
// on. Where it happens to stop with a lock in its hands that the others need, such as malloc's, it
// is let go and stopped again a little later. For that it must beat every 50 ms (--heartbeat).
class HeldThread {
 public:
  explicit HeldThread(pid_t process);
  ~HeldThread();
  HeldThread(const HeldThread&) = delete;
  HeldThread& operator=(const HeldThread&) = delete;

 private:
  void hold();
  void let_go();

  pid_t thread_;  // it has the number of its process
};

bool alive(pid_t pid);
bool stopped(pid_t pid);                 // by SIGSTOP
bool is_pending(pid_t pid, int signal);  // was sent but not yet taken
// Waits until the condition holds, at most `seconds`.
bool eventually(double seconds, const std::function<bool()>& condition);

nlohmann::json summary_of(const std::filesystem::path& run_dir);
// Of the last checkpoint.
std::vector<float> final_parameters(const std::filesystem::path& run_dir);
struct Learned {
  std::uint64_t version;                    // steps applied
  std::vector<std::vector<float>> vectors;  // the parameters, then the optimizer's state
};
Learned learned_by(const std::filesystem::path& run_dir);

}  // namespace paceline
