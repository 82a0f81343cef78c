#include "prepare/tasks.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.h"
#include "base/file/file.h"
#include "base/threads.h"

namespace paceline {

void throw_if_stopped(const StopFlag& stop) {
  if (stop.load(std::memory_order_relaxed)) throw Interrupted("stopped");
}

void run_tasks(std::size_t count, unsigned threads, const StopFlag& stop,
               const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  on_threads(std::min<std::size_t>(threads, count), [&](std::size_t) {
    try {
      for (std::size_t task = next++; task < count; task = next++) {
        throw_if_stopped(stop);
        work(task);
      }
    } catch (...) {
      next = count;  // nobody begins another
      throw;
    }
  });
}

std::vector<nlohmann::json> finish_tasks(const Tasks& tasks, unsigned threads,
                                         const StopFlag& stop) {
  const auto end_of = [&](std::size_t task) { return tasks.name(task).string() + ".json"; };
  std::vector<nlohmann::json> reports(tasks.count);
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < tasks.count; ++i) {
    reports[i] = read_done(end_of(i));
    if (reports[i].is_null()) {
      left.push_back(i);
    } else {
      tasks.done_before(i);
    }
  }
  run_tasks(left.size(), threads, stop, [&](std::size_t at) {
    const std::size_t task = left[at];
    reports[task] = tasks.work(task);
    write_done(end_of(task), reports[task]);
  });
  return reports;
}

nlohmann::json read_done(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return nullptr;
  nlohmann::json report = nlohmann::json::parse(read_text(path), nullptr, false);
  return report.is_discarded() ? nlohmann::json() : report;
}

void write_done(const std::filesystem::path& path, const nlohmann::json& report) {
  AtomicFile file(path);
  file.write(std::string_view(report.dump()));
  file.commit(AtomicFile::Durable::kLater);
}

}  // namespace paceline
