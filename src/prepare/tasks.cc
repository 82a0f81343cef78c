#include "prepare/tasks.h"

#include <xxhash.h>

#include "base/file/file.h"
#include "base/threads.h"

namespace paceline {
namespace {

std::string checksum_line(const std::string& report) {
  return fmt::format("{:016x}\n", XXH3_64bits(report.data(), report.size()));
}

}  // namespace

void throw_if_stopped(const StopFlag& stop) {
  if (stop.load(std::memory_order_relaxed)) throw Interrupted("stopped");
}

void run_tasks(std::size_t count, unsigned threads, const StopFlag& stop,
               const std::function<void(std::size_t)>& work) {
  for_each_number(count, threads, [&](std::size_t task) {
    throw_if_stopped(stop);
    work(task);
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
  const std::string text = read_text(path);
  const std::size_t end = text.find('\n');  // JSON has none
  if (end == std::string::npos || text.substr(end + 1) != checksum_line(text.substr(0, end))) {
    return nullptr;
  }
  nlohmann::json report = nlohmann::json::parse(text.substr(0, end), nullptr, false);
  return report.is_discarded() ? nlohmann::json() : report;
}

void write_done(const std::filesystem::path& path, const nlohmann::json& report) {
  AtomicFile file(path);
  file.write(std::string_view(sealed(report)));
  file.commit(AtomicFile::Durable::kLater);
}

std::string sealed(const nlohmann::json& report) {
  const std::string line = report.dump();
  return line + "\n" + checksum_line(line);
}

}  // namespace paceline
