#include "config/run_dir.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/error.h"
#include "base/process.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

fs::path candidate(const std::string& recipe, std::chrono::system_clock::time_point now,
                   int number) {
  const std::time_t time = std::chrono::system_clock::to_time_t(now);
  std::string name = fmt::format("{}-{:%Y%m%d-%H%M%S}", recipe, fmt::localtime(time));
  if (number > 1) name += fmt::format("-{}", number);
  return fs::path("runs") / name;
}

}  // namespace

fs::path default_run_dir(const std::string& recipe, std::chrono::system_clock::time_point now) {
  int number = 1;
  while (fs::exists(candidate(recipe, now, number))) ++number;
  return candidate(recipe, now, number);
}

ClaimedRunDir::ClaimedRunDir(const std::string& recipe, std::chrono::system_clock::time_point now) {
  for (int number = 1;; ++number) {
    path_ = candidate(recipe, now, number);
    std::error_code error;
    if (fs::create_directories(path_.parent_path(), error)) made_parent_ = true;
    if (::mkdir(path_.c_str(), 0777) == 0) return;
    // Another process may have removed the parent, which was empty.
    if (errno == ENOENT && !error) {
      --number;
    } else if (errno != EEXIST) {
      throw DataError("cannot make the run directory {}: {}. Name another with --run-dir",
                      path_.string(), errno_text(errno));
    }
  }
}

ClaimedRunDir::~ClaimedRunDir() {
  std::error_code ignored;
  fs::remove(path_, ignored);  // fails when there is anything in it
  if (made_parent_) fs::remove(path_.parent_path(), ignored);
}

}  // namespace paceline
