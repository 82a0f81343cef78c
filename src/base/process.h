// This process and others: resources used, children that die with their parent.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace paceline {

struct Usage {
  double cpu_seconds = 0;
  std::uint64_t peak_rss_bytes = 0;
};
Usage usage_of_this_process();
double cpu_seconds_of_this_thread();

std::uint64_t available_memory();  // of this host, in bytes, or what control groups leave of it
// As many as control groups give this process the time of, at least one.
unsigned available_cores();
std::vector<unsigned> available_core_numbers();  // that this thread may run on, whatever its time
void pin_this_thread(std::span<const unsigned> cores);  // as far as the system allows it
std::string host_name();
std::string this_executable();
// Of this program: another build has another, whatever its version. As the linker has noted it, in
// hexadecimal digits; empty: it has not.
const std::string& build_id();

struct Command {
  std::vector<std::string> arguments;  // arguments[0] is the program, found by PATH
  std::string output;                  // file for stdout and stderr; empty: inherited
  std::vector<int> keep;               // descriptors the child inherits besides 0, 1, 2
  bool dies_with_parent = false;       // SIGKILL when the thread that starts it ends
  bool own_group = false;              // so that the terminal's Ctrl-C does not reach it
  std::string directory{};             // to run in; empty: the current one
};
// Throws Error naming the program when it cannot be started.
pid_t start(const Command& command);

struct Finished {
  int status = 0;  // as waitpid gives it
  Usage usage{};   // its own, or that of the largest of the processes it has waited for
  bool ok() const { return status == 0; }
  std::string describe() const;  // "exited with code 3", "was killed by signal 9 (Killed)"
};
Finished await_end(pid_t child);
// Runs to the end and returns how it ended; `captured`, when given, receives stdout and
// stderr in the place of `output`.
Finished run(const Command& command, std::string* captured = nullptr);

}  // namespace paceline
