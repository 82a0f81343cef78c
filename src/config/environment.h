// What the process finds around it, read once and passed on as plain data: nothing else
// in the program looks at environment variables, the terminal or the calendar.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace paceline {

// Who has started this process.
enum class StartedBy {
  kUser,
  kMpi,          // mpirun, or srun --mpi=pmix: one of several that know each other
  kOtherLaunch,  // srun without MPI: one of several that do not
};

struct Environment {
  std::filesystem::path cache_dir;             // datasets; empty: the user has no such place
  std::vector<std::filesystem::path> recipes;  // directories with recipes, best first
  bool terminal = false;                       // standard output redraws lines
  bool color = false;
  int columns = 80;
  StartedBy started_by = StartedBy::kUser;
  std::chrono::system_clock::time_point now;
};

// Variables as a function, so that tests need not touch the real ones: NO_COLOR, COLUMNS,
// TERM, XDG_CACHE_HOME, HOME, and what MPI's launchers and Slurm set. `window_columns` is 0 when
// standard output is no terminal.
Environment read_environment(const char* (*variable)(const char*), bool output_is_terminal,
                             int window_columns);

// Throws ConfigError when no folder for datasets is known, neither a cache nor --data-dir. A
// folder that all users share would be no substitute: anyone could put files there.
void require_data_dir(const std::filesystem::path& data_dir);

// Of this process.
Environment current_environment();

}  // namespace paceline
