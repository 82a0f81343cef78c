#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "checkpoint/checkpoint.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

std::string file_name(std::uint64_t version) {
  return fmt::format("step-{:010}.ckpt", version);
}

std::optional<std::uint64_t> version_of(const std::string& name) {
  constexpr std::size_t kPrefix = std::string_view("step-").size();
  std::uint64_t version = 0;
  if (name.size() < kPrefix) return std::nullopt;
  std::from_chars(name.data() + kPrefix, name.data() + name.size(), version);
  // Whatever else is in the name, or missing, makes it differ from this one.
  return name == file_name(version) ? std::optional(version) : std::nullopt;
}

}  // namespace

fs::path checkpoint_path(const fs::path& run_dir, std::uint64_t version) {
  return run_dir / "checkpoints" / file_name(version);
}

std::vector<fs::path> list_checkpoints(const fs::path& run_dir) {
  const fs::path folder = run_dir / "checkpoints";
  std::vector<std::uint64_t> versions;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (const auto version = version_of(entry->path().filename())) versions.push_back(*version);
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    throw DataError("cannot list {}: {}", folder.string(), error.message());
  }
  std::ranges::sort(versions);
  std::vector<fs::path> paths;
  paths.reserve(versions.size());
  for (const std::uint64_t version : versions) paths.push_back(checkpoint_path(run_dir, version));
  return paths;
}

fs::path find_checkpoint(const fs::path& target, Activity* activity) {
  std::error_code error;
  if (!fs::is_directory(target, error)) {
    CheckpointReader(target, activity).verify();
    return target;
  }
  const std::vector<fs::path> paths = list_checkpoints(target);
  if (paths.empty() && !fs::exists(target / "config.toml", error)) {
    throw DataError("{} is neither a run directory nor a checkpoint", target.string());
  }
  std::vector<std::string> damaged;
  for (auto path = paths.rbegin(); path != paths.rend(); ++path) {
    try {
      CheckpointReader(*path, activity).verify();
      for (const std::string& sentence : damaged)
        spdlog::warn("skipped a checkpoint: {}", sentence);
      return *path;
    } catch (const DataError& damage) {
      damaged.emplace_back(damage.what());
    }
  }
  throw DataError("{} has no checkpoint that can be read{}", target.string(),
                  paths.empty() ? ": none has been saved yet. Start its run again"
                                : "; " + join(damaged, "; "));
}

void prune_checkpoints(const fs::path& run_dir, std::uint64_t keep) {
  if (keep == 0) return;
  const std::vector<fs::path> paths = list_checkpoints(run_dir);
  for (std::size_t i = 0; i + keep < paths.size(); ++i) {
    std::error_code error;
    fs::remove(paths[i], error);
    // An old file too many is no reason to end a run.
    if (error) spdlog::warn("cannot remove {}: {}", paths[i].string(), error.message());
  }
}

}  // namespace paceline
