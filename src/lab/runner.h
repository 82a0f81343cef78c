// Runs the programs that are measured, one at a time.
//
// A measured program prints its figures as one line with a JSON object and ends. It runs
// with one compute thread per process (OpenMP's and OpenBLAS's), on one core if asked,
// and does not outlive its time, this process or a Ctrl-C. Whatever is wrong is an Error
// that names the program and quotes the last thing it said. One thread at a time: the one
// that made the runner.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/process.h"

namespace paceline {

struct Program {
  std::filesystem::path file;
  std::vector<std::string> arguments{};
  std::vector<std::string> prefix{};  // words before the program: where it runs
  bool one_core = false;              // pinned to one, with all its processes
  Duration limit = std::chrono::minutes(5);
};

// A program that runs beside the one that is measured; ended with this object.
class Companion {
 public:
  Companion(const Program& program, const std::filesystem::path& output);
  ~Companion();
  Companion(const Companion&) = delete;
  Companion& operator=(const Companion&) = delete;

 private:
  pid_t pid_;
};

class Runner {
 public:
  Runner();  // makes a folder for what the programs leave behind
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // Returns the object on the last line of the output that holds one; `usage`, when given,
  // receives what the program has used. Throws Interrupted when SIGINT or SIGTERM has come
  // meanwhile.
  nlohmann::json run(const Program& program, Usage* usage = nullptr);

  // A folder for what the next program leaves behind, yet to be made; what was in it is gone.
  // Those of other names stay.
  std::filesystem::path fresh_folder(const std::string& name = "run");

 private:
  std::string output_of(const Program& program, Usage* usage);

  std::filesystem::path scratch_;
};

}  // namespace paceline
