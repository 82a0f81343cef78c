#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/commands/commands.h"
#include "data/known_sets.h"
#include "data/sparse/row_caches.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCleanExamples = R"(Examples:
  paceline data clean --dry-run
  paceline data clean
  paceline data clean day_0.gz.18b7be1f0f5c2a66.rows
)";

std::vector<FoundRowCache> chosen(const DataCleanOptions& options, const fs::path& folder) {
  std::vector<FoundRowCache> all = find_row_caches(folder);
  std::vector<std::string> there;
  there.reserve(all.size());
  for (const FoundRowCache& cache : all) there.push_back(cache.path.filename());
  // All names first: a misspelt one should not come to light when others are gone.
  for (const std::string& name : options.names) {
    const auto found = std::ranges::find(there, name);
    if (found == there.end())
      throw ConfigError("there is no cache of rows '{}' in {}{} ('paceline data list' has them)",
                        name, folder.string(), did_you_mean(name, there));
    if (all[static_cast<std::size_t>(found - there.begin())].state == RowCacheState::kGrowing) {
      throw ConfigError("{} is being written now: it is removed when its run is over", name);
    }
  }
  std::erase_if(all, [&](const FoundRowCache& cache) {
    if (cache.state == RowCacheState::kGrowing) return true;
    if (options.all) return false;
    if (options.names.empty()) return !is_useless(cache.state);
    return std::ranges::find(options.names, cache.path.filename().string()) == options.names.end();
  });
  return all;
}

}  // namespace

void add_data_clean_command(CLI::App& data, const CommandContext& context) {
  CLI::App& command = *data.add_subcommand(
      "clean",
      "Removes what was kept of sparse rows and is of no use: files that they were read from are "
      "gone or have changed, or a run was killed while it wrote. Text is never removed.");
  command.footer(kCleanExamples);
  auto options = options_of<DataCleanOptions>(command, context);
  options->data_dir = context.environment.cache_dir;
  command.add_option("NAME", options->names,
                     "these instead, of use or not, as 'paceline data list' names them");
  command.add_flag("--all", options->all, "all of them; a later run reads its text again")
      ->excludes("NAME");
  command.add_flag("--dry-run", options->dry_run, "only say what would be removed");
  command
      .add_option("--data-dir", options->data_dir, "where datasets are kept [~/.cache/paceline]")
      ->option_text("PATH");
  command.add_option("--cache-dir", options->cache_dir, "where rows are kept [DATA-DIR/rows]")
      ->option_text("PATH");
}

void run(const DataCleanOptions& options, const Session& session) {
  if (options.cache_dir.empty()) require_data_dir(options.data_dir);
  const fs::path folder = options.cache_dir.empty() ? options.data_dir / "rows" : options.cache_dir;
  const std::vector<FoundRowCache> caches = chosen(options, folder);
  std::uint64_t bytes = 0;
  for (const FoundRowCache& cache : caches) {
    if (!options.dry_run) remove_row_cache(cache);
    bytes += cache.bytes;
    session.out << fmt::format("{} {} ({}, {})\n", options.dry_run ? "would remove" : "removed",
                               cache.path.string(), format_bytes(cache.bytes),
                               name_of(cache.state));
  }
  if (caches.empty()) {
    session.out << fmt::format("nothing to remove in {}\n", folder.string());
  } else {
    session.out << fmt::format("{} {}\n", format_bytes(bytes),
                               options.dry_run ? "would be free" : "are free");
  }
}

}  // namespace paceline
