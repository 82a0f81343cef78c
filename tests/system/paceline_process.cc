#include "system/paceline_process.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/clock.h"
#include "base/file/file.h"
#include "base/paths.h"
#include "base/process.h"
#include "checkpoint/checkpoint.h"

namespace paceline {

namespace fs = std::filesystem;

PacelineProcess::PacelineProcess(const fs::path& dir, std::vector<std::string> arguments,
                                 std::vector<std::string> wrapper) {
  static int number = 0;
  output_ = dir / ("output" + std::to_string(++number) + ".txt");
  Command command;
  command.arguments = std::move(wrapper);
  command.arguments.push_back(program_path());
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  command.output = output_;
  command.dies_with_parent = true;
  pid_ = start(command);
}

PacelineProcess::~PacelineProcess() {
  if (code_) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

int PacelineProcess::wait() {
  int status = 0;
  const bool ended = eventually(60, [&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; });
  if (!ended) {
    ADD_FAILURE() << "paceline does not end:\n" << output();
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, &status, 0);
  }
  code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return *code_;
}

std::string PacelineProcess::output() const {
  return read_text(output_);
}

void PacelineProcess::signal(int signal) const {
  ::kill(pid_, signal);
}

std::vector<pid_t> PacelineProcess::roles(const std::string& prefix, std::size_t count) const {
  std::vector<pid_t> found;
  const std::string parent = std::to_string(pid_);
  eventually(20, [&] {
    found.clear();
    std::ifstream children("/proc/" + parent + "/task/" + parent + "/children");
    for (pid_t child = 0; children >> child;) {
      std::ifstream in("/proc/" + std::to_string(child) + "/cmdline");
      std::stringstream line;
      line << in.rdbuf();
      // Arguments are separated by zero bytes.
      const std::string mark = std::string("role") + '\0' + prefix;
      if (line.str().find(mark) != std::string::npos) found.push_back(child);
    }
    return found.size() >= count;
  });
  return found;
}

Result paceline(const fs::path& dir, std::vector<std::string> arguments) {
  PacelineProcess process(dir, std::move(arguments));
  const int code = process.wait();
  return {code, process.output()};
}

Taken take_port() {
  Taken taken{::socket(AF_INET, SOCK_STREAM, 0), 0};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(taken.socket, generic, length) != 0 || ::listen(taken.socket, 1) != 0 ||
      ::getsockname(taken.socket, generic, &length) != 0) {
    throw std::runtime_error("the test gets no port");
  }
  taken.port = ntohs(address.sin_port);
  return taken;
}

std::uint16_t free_port() {
  return take_port().port;
}

// How often the thread that talks with the chief has gone to sleep.
static long turns_of_line(pid_t process) {
  for (const auto& thread : fs::directory_iterator(fmt::format("/proc/{}/task", process))) {
    std::ifstream status(thread.path() / "status");
    bool is_line = false;
    for (std::string line; std::getline(status, line);) {
      if (line == "Name:\tchief line") is_line = true;
      const std::string_view turns = "voluntary_ctxt_switches:";
      if (is_line && line.starts_with(turns)) return std::stol(line.substr(turns.size()));
    }
  }
  return 0;
}

HeldThread::HeldThread(pid_t process) : thread_(process) {
  for (int tries = 0; tries < 20; ++tries) {
    hold();
    const long turns = turns_of_line(process);
    if (eventually(0.5, [&] { return turns_of_line(process) > turns + 2; })) return;
    let_go();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // it must get out of where it was
  }
  ADD_FAILURE() << "process " << process << " does not beat while its main thread is held";
}

void HeldThread::hold() {
  int status = 0;
  if (::ptrace(PTRACE_SEIZE, thread_, nullptr, nullptr) != 0 ||
      ::ptrace(PTRACE_INTERRUPT, thread_, nullptr, nullptr) != 0 ||
      ::waitpid(thread_, &status, __WALL) != thread_ || !WIFSTOPPED(status)) {
    ADD_FAILURE() << "cannot hold thread " << thread_;
  }
}

void HeldThread::let_go() {
  // One that was killed meanwhile must be taken note of, or its parent would not hear of it.
  if (::ptrace(PTRACE_DETACH, thread_, nullptr, nullptr) != 0) ::waitpid(thread_, nullptr, __WALL);
}

HeldThread::~HeldThread() {
  let_go();
}

// One letter, as in the manual page of proc; empty: there is no such process.
static std::string state_of(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string word;
  std::string state;
  stat >> word >> word >> state;
  return state;
}

bool alive(pid_t pid) {
  const std::string state = state_of(pid);
  return !state.empty() && state != "Z" && state != "X";
}

bool stopped(pid_t pid) {
  return state_of(pid) == "T";
}

bool is_pending(pid_t pid, int signal) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("ShdPnd:")) continue;
    return (std::stoull(line.substr(line.find(':') + 1), nullptr, 16) >> (signal - 1) & 1) != 0;
  }
  return false;
}

bool eventually(double seconds, const std::function<bool()>& condition) {
  const TimePoint deadline = Clock::now() + from_seconds(seconds);
  while (!condition()) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

nlohmann::json summary_of(const fs::path& run_dir) {
  return nlohmann::json::parse(read_text(run_dir / "summary.json"));
}

std::vector<float> final_parameters(const fs::path& run_dir) {
  const CheckpointReader reader(find_checkpoint(run_dir));
  std::vector<float> values(reader.info().layout.size);
  reader.read(0, {0, values.size()}, values);
  return values;
}

Learned learned_by(const fs::path& run_dir) {
  const CheckpointReader reader(find_checkpoint(run_dir));
  const CheckpointInfo& info = reader.info();
  Learned learned{info.version, {}};
  for (std::uint64_t vector = 0; vector <= info.slots; ++vector) {
    auto& values = learned.vectors.emplace_back(info.layout.size);
    reader.read(vector, {0, values.size()}, values);
  }
  return learned;
}

}  // namespace paceline
