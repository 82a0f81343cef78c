// One log per role, through spdlog's default logger: call spdlog::info(...) and friends.
#pragma once

#include <spdlog/spdlog.h>

#include <filesystem>
#include <string>

namespace paceline {

// Sends the log of this process to `path` (or to standard error when empty), with the
// role's name on each line. A thread of spdlog's writes, so that a disk that stalls stops nobody;
// when it falls far behind, the oldest lines are lost. Throws DataError when the file cannot be
// opened, ConfigError when there is no such level.
void start_logging(const std::string& role, const std::filesystem::path& path,
                   const std::string& level = "info");

// For a program without a log of its own: what is logged goes to standard error, as "warning: …".
// Never to standard output, which is for results.
void log_to_people();

// Writes what is left and forgets the log; the end of the process does so, too.
void stop_logging();

}  // namespace paceline
