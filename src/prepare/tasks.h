// Work that is cut into tasks which need nothing of each other.
//
// A task ends with a file that appears when all that it has made is there. Whoever was interrupted,
// or killed, goes on with the tasks that have no such file.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"

namespace paceline {

// Set by whoever wants the work to end.
using StopFlag = std::atomic<bool>;

void throw_if_stopped(const StopFlag& stop);  // Interrupted

// Calls `work` with 0 … count - 1 from `threads` threads. Once a task has thrown, no more are
// begun, and what the first of those that failed has thrown is thrown here; Interrupted when `stop`
// is set.
void run_tasks(std::size_t count, unsigned threads, const StopFlag& stop,
               const std::function<void(std::size_t task)>& work);

// What a task wrote at its end; null: it has not come to its end, or the power has failed before
// all of it was on the disk.
nlohmann::json read_done(const std::filesystem::path& path);
void write_done(const std::filesystem::path& path, const nlohmann::json& report);

// A report as its file has it: a line of JSON, and a line with its checksum.
std::string sealed(const nlohmann::json& report);

// What `read` takes from a report. Throws DataError when that has other fields.
template <typename Read>
auto from_report(const Read& read) {
  try {
    return read();
  } catch (const nlohmann::json::exception& error) {
    throw DataError("a report of an earlier run makes no sense ({}): begin anew with --fresh",
                    error.what());
  }
}

struct Tasks {
  std::size_t count = 0;
  // Of the files that a task makes: NAME.json is that of its end.
  std::function<std::filesystem::path(std::size_t task)> name;
  // Returns what NAME.json shall say.
  std::function<nlohmann::json(std::size_t task)> work;
  // Called for each that was done before, ahead of all work.
  std::function<void(std::size_t task)> done_before = [](std::size_t) {};
};

// Does those that are not done; returns what all of them say.
std::vector<nlohmann::json> finish_tasks(const Tasks& tasks, unsigned threads,
                                         const StopFlag& stop);

}  // namespace paceline
