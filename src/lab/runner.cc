#include "lab/runner.h"

#include <poll.h>
#include <sched.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file/file.h"
#include "base/plugin.h"
#include "base/process.h"
#include "base/text.h"
#include "base/units.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

// The last core this process may use: interrupts prefer the first.
std::string chosen_core() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (::sched_getaffinity(0, sizeof cores, &cores) != 0) return "0";
  int core = CPU_SETSIZE - 1;
  while (core > 0 && !CPU_ISSET(core, &cores)) --core;
  return std::to_string(core);
}

Command command_for(const Program& program, const fs::path& output) {
  Command command;
  command.arguments = {"env", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1"};
  // Peers as well as we: otherwise the figure would be of OpenBLAS's age.
  if (const std::string kernels = blas_kernels(); !kernels.empty()) {
    command.arguments.push_back("OPENBLAS_CORETYPE=" + kernels);
  }
  if (program.one_core) {
    command.arguments.insert(command.arguments.end(), {"taskset", "-c", chosen_core()});
  }
  command.arguments.insert(command.arguments.end(), program.prefix.begin(), program.prefix.end());
  command.arguments.push_back(program.file.string());
  command.arguments.insert(command.arguments.end(), program.arguments.begin(),
                           program.arguments.end());
  command.output = output.string();
  command.dies_with_parent = true;
  command.own_group = true;
  return command;
}

// While it lives, SIGINT and SIGTERM make its descriptor readable instead of ending the
// process: there is a program to stop and a folder to remove first.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t signals;
    ::sigemptyset(&signals);
    ::sigaddset(&signals, SIGINT);
    ::sigaddset(&signals, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
    descriptor_ = ::signalfd(-1, &signals, SFD_CLOEXEC);
    if (descriptor_ < 0) throw Error("signalfd: " + errno_text(errno));
  }
  ~SignalsHeld() {
    // What came is answered by an Interrupted: it must not strike again when let through.
    signalfd_siginfo info{};
    pollfd ready{descriptor_, POLLIN, 0};
    while (::poll(&ready, 1, 0) > 0 && ::read(descriptor_, &info, sizeof info) > 0) {
    }
    ::close(descriptor_);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

  int descriptor() const { return descriptor_; }

 private:
  sigset_t before_{};
  int descriptor_ = -1;
};

enum class End { kByItself, kTimeout, kInterrupted };

End wait_for_end(pid_t child, int signals, Duration limit) {
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
  if (process < 0) throw Error("pidfd_open: " + errno_text(errno));
  std::array<pollfd, 2> ready{{{process, POLLIN, 0}, {signals, POLLIN, 0}}};
  const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(limit).count();
  int count = 0;
  do {
    count = ::poll(ready.data(), ready.size(), static_cast<int>(wait));
  } while (count < 0 && errno == EINTR);
  ::close(process);
  if (ready[1].revents != 0) return End::kInterrupted;
  return count == 0 ? End::kTimeout : End::kByItself;
}

// A process of another group is not among them: it must have its own way to end.
Finished end_with_group(pid_t child) {
  ::kill(-child, SIGKILL);
  return await_end(child);
}

std::string last_line(const std::string& output) {
  std::string last;
  for (const std::string& line : split(output, '\n')) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) last = line;
  }
  return last;
}

}  // namespace

Companion::Companion(const Program& program, const fs::path& output)
    : pid_(start(command_for(program, output))) {}

Companion::~Companion() {
  end_with_group(pid_);
}

Runner::Runner() {
  std::string name = (fs::temp_directory_path() / "paceline-bench-XXXXXX").string();
  if (!::mkdtemp(name.data())) throw DataError("cannot make {}: {}", name, errno_text(errno));
  scratch_ = name;
}

Runner::~Runner() {
  std::error_code ignored;
  fs::remove_all(scratch_, ignored);
}

fs::path Runner::fresh_folder(const std::string& name) {
  const fs::path folder = scratch_ / name;
  fs::remove_all(folder);
  return folder;
}

std::string Runner::output_of(const Program& program, Usage* usage) {
  const std::string name = program.file.filename().string();
  if (!fs::exists(program.file)) {
    throw Error(fmt::format("{} is not in {}: ./paceline bench builds it", name,
                            program.file.parent_path().string()));
  }
  const fs::path file = scratch_ / "output";
  fs::remove(file);
  const SignalsHeld signals;
  const pid_t child = start(command_for(program, file));
  const End end = wait_for_end(child, signals.descriptor(), program.limit);
  const Finished finished = end_with_group(child);
  if (usage != nullptr) *usage = finished.usage;
  if (end == End::kInterrupted) throw Interrupted("interrupted while " + name + " ran");
  std::string output = read_text(file);
  if (end == End::kTimeout) {
    throw Error(fmt::format("{} had not ended after {}; its last words: {}", name,
                            format_duration(program.limit), last_line(output)));
  }
  if (!finished.ok()) {
    throw Error(fmt::format("{} {}: {}", name, finished.describe(), last_line(output)));
  }
  return output;
}

nlohmann::json Runner::run(const Program& program, Usage* usage) {
  nlohmann::json report;
  for (const std::string& line : split(output_of(program, usage), '\n')) {
    auto object = nlohmann::json::parse(line, nullptr, false);
    if (object.is_object()) report = std::move(object);
  }
  if (report.is_null()) {
    throw Error(program.file.filename().string() + " ended without a line of JSON");
  }
  return report;
}

}  // namespace paceline
