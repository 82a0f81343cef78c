#include "config/environment.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "base/process.h"
#include "config/source_tree.h"

namespace paceline {
namespace {

constexpr int kNarrowest = 20;
constexpr int kDefaultColumns = 80;

std::filesystem::path cache_directory(const char* (*variable)(const char*)) {
  const std::string_view cache = variable("XDG_CACHE_HOME");
  if (cache.starts_with('/')) return std::filesystem::path(cache) / "paceline";
  const std::string_view home = variable("HOME");
  if (!home.empty()) return std::filesystem::path(home) / ".cache" / "paceline";
  return {};
}

int columns_from(std::string_view text, int window_columns) {
  int columns = 0;
  std::from_chars(text.data(), text.data() + text.size(), columns);
  if (columns < kNarrowest) columns = window_columns;
  return columns < kNarrowest ? kDefaultColumns : columns;
}

StartedBy starter(const char* (*variable)(const char*)) {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK"}) {
    if (*variable(name) != '\0') return StartedBy::kMpi;
  }
  const std::string_view tasks = variable("SLURM_STEP_NUM_TASKS");
  return tasks.empty() || tasks == "1" ? StartedBy::kUser : StartedBy::kOtherLaunch;
}

}  // namespace

Environment read_environment(const char* (*variable)(const char*), bool output_is_terminal,
                             int window_columns) {
  Environment environment;
  environment.cache_dir = cache_directory(variable);
  environment.started_by = starter(variable);
  const std::string_view kind = variable("TERM");
  // mpirun gives its processes a terminal of its own, wherever their output goes.
  environment.terminal = output_is_terminal && !kind.empty() && kind != "dumb" &&
                         environment.started_by != StartedBy::kMpi;
  environment.color = environment.terminal && std::string_view(variable("NO_COLOR")).empty();
  environment.columns = columns_from(variable("COLUMNS"), window_columns);
  return environment;
}

void require_data_dir(const std::filesystem::path& data_dir) {
  if (!data_dir.empty()) return;
  throw ConfigError(
      "there is no folder for datasets: set HOME or XDG_CACHE_HOME, or name one with --data-dir");
}

Environment current_environment() {
  const auto variable = [](const char* name) -> const char* {
    const char* value = std::getenv(name);
    return value ? value : "";
  };
  winsize window{};
  const bool sized = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0;
  Environment environment =
      read_environment(variable, ::isatty(STDOUT_FILENO) == 1, sized ? window.ws_col : 0);
  environment.now = std::chrono::system_clock::now();
  // A binary in PREFIX/bin has its recipes in PREFIX/share; one that was never installed
  // has them where it was built from.
  environment.recipes = {std::filesystem::path(this_executable()).parent_path().parent_path() /
                             "share/paceline/recipes",
                         recipes_of_source_tree()};
  return environment;
}

}  // namespace paceline
