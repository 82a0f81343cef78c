#include "base/process.h"

#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "base/control_group.h"
#include "base/error.h"

namespace paceline {
namespace {

// The number beside `field` in a file of "field number …" lines; 0 when it is not there.
std::uint64_t number_beside(const char* path, std::string_view field) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t value = 0;
    if (words >> name >> value && name == field) return value;
  }
  return 0;
}

// From the notes in its memory: each a header, a name and a content, padded to whole words.
std::string build_id_of(const dl_phdr_info& program) {
  const auto padded = [](std::size_t size) { return (size + 3) / 4 * 4; };
  for (int i = 0; i < program.dlpi_phnum; ++i) {
    const auto& segment = program.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader gives addresses as numbers
    const auto* at = reinterpret_cast<const char*>(program.dlpi_addr + segment.p_vaddr);
    const char* const end = at + segment.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const char* content = at + sizeof note + padded(note.n_namesz);
      if (note.n_type == NT_GNU_BUILD_ID) {
        std::string text;
        for (std::size_t byte = 0; byte < note.n_descsz; ++byte) {
          text += fmt::format("{:02x}", static_cast<unsigned char>(content[byte]));
        }
        return text;
      }
      at = content + padded(note.n_descsz);
    }
  }
  return {};
}

// Runs in the child between fork and exec: only calls that are safe there. Reports the
// reason through `report` when the program cannot be started.
[[noreturn]] void become(const Command& command, char* const* arguments, pid_t parent, int output,
                         int report) {
  if (command.own_group) {
    ::setpgid(0, 0);
    // What reached the group of the parent before that was not meant for this process; it is
    // pending while the parent blocks it.
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGTSTP}) {
      ::signal(signal, SIG_IGN);
      ::signal(signal, SIG_DFL);
    }
  }
  if (command.dies_with_parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
  }
  // What the parent ignores or blocks is its own affair.
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (output >= 0) {
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
  }
  for (const int fd : command.keep) ::fcntl(fd, F_SETFD, 0);
  if (command.directory.empty() || ::chdir(command.directory.c_str()) == 0) {
    ::execvp(arguments[0], arguments);
  }
  const int error = errno;
  [[maybe_unused]] const auto written = ::write(report, &error, sizeof error);
  ::_exit(127);
}

pid_t start_with_output(const Command& command, int output) {
  PACELINE_CHECK(!command.arguments.empty());
  if (!command.directory.empty() && !std::filesystem::is_directory(command.directory)) {
    throw Error(fmt::format("cannot start {} in {}: there is no such folder", command.arguments[0],
                            command.directory));
  }
  std::vector<char*> arguments;
  arguments.reserve(command.arguments.size() + 1);
  for (const auto& argument : command.arguments) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  std::array<int, 2> report{};
  if (::pipe2(report.data(), O_CLOEXEC) != 0) throw Error("pipe: " + errno_text(errno));
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) become(command, arguments.data(), parent, output, report[1]);
  const int fork_error = errno;
  ::close(report[1]);
  int exec_error = 0;
  ssize_t got = 0;
  do {
    got = child < 0 ? 0 : ::read(report[0], &exec_error, sizeof exec_error);
  } while (got < 0 && errno == EINTR);
  ::close(report[0]);
  if (child < 0) throw Error("cannot start a process: " + errno_text(fork_error));
  if (got == sizeof exec_error) {
    ::waitpid(child, nullptr, 0);
    throw Error(fmt::format("cannot start {}: {}", command.arguments[0], errno_text(exec_error)));
  }
  return child;
}

// Starts the command and appends what it says to `captured`, until it stops talking.
pid_t start_captured(const Command& command, std::string& captured) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) throw Error("pipe: " + errno_text(errno));
  pid_t child = -1;
  try {
    child = start_with_output(command, pipe[1]);
  } catch (...) {
    ::close(pipe[0]);
    ::close(pipe[1]);
    throw;
  }
  ::close(pipe[1]);
  std::array<char, 4096> block{};
  ssize_t got = 0;
  while ((got = ::read(pipe[0], block.data(), block.size())) > 0 || (got < 0 && errno == EINTR)) {
    if (got > 0) captured.append(block.data(), static_cast<std::size_t>(got));
  }
  ::close(pipe[0]);
  return child;
}

Usage as_usage(const rusage& usage) {
  const auto time = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return {time(usage.ru_utime) + time(usage.ru_stime),
          static_cast<std::uint64_t>(usage.ru_maxrss) * 1024};
}

}  // namespace

double cpu_seconds_of_this_thread() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

Usage usage_of_this_process() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return as_usage(usage);
}

std::uint64_t available_memory() {
  const std::uint64_t available = number_beside("/proc/meminfo", "MemAvailable:") * 1024;
  return std::min(available, read_control_group().memory_left.value_or(available));
}

unsigned available_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (::sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
  const double allowed = read_control_group().cores.value_or(CPU_SETSIZE);
  return static_cast<unsigned>(std::max(1.0, std::min<double>(CPU_COUNT(&cores), allowed)));
}

std::vector<unsigned> available_core_numbers() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (::sched_getaffinity(0, sizeof cores, &cores) != 0) return {0};
  std::vector<unsigned> numbers;
  for (unsigned core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &cores)) numbers.push_back(core);
  }
  return numbers;
}

void pin_this_thread(std::span<const unsigned> cores) {
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  for (const unsigned core : cores) CPU_SET(core, &chosen);
  ::sched_setaffinity(0, sizeof chosen, &chosen);
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

const std::string& build_id() {
  // The first module is the program itself.
  static const std::string id = [] {
    std::string found;
    ::dl_iterate_phdr(
        [](dl_phdr_info* program, std::size_t, void* result) {
          *static_cast<std::string*>(result) = build_id_of(*program);
          return 1;
        },
        &found);
    return found;
  }();
  return id;
}

std::string this_executable() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

pid_t start(const Command& command) {
  if (command.output.empty()) return start_with_output(command, -1);
  const int output =
      ::open(command.output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (output < 0) throw DataError("cannot open {}: {}", command.output, errno_text(errno));
  try {
    const pid_t child = start_with_output(command, output);
    ::close(output);
    return child;
  } catch (...) {
    ::close(output);
    throw;
  }
}

Finished await_end(pid_t child) {
  Finished finished;
  rusage usage{};
  while (::wait4(child, &finished.status, 0, &usage) < 0 && errno == EINTR) {
  }
  finished.usage = as_usage(usage);
  return finished;
}

Finished run(const Command& command, std::string* captured) {
  return await_end(captured ? start_captured(command, *captured) : start(command));
}

std::string Finished::describe() const {
  if (WIFEXITED(status)) return fmt::format("exited with code {}", WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  return fmt::format("was killed by signal {} ({})", signal, ::strsignal(signal));
}

}  // namespace paceline
