#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/commands/commands.h"
#include "cli/console.h"
#include "cli/format.h"
#include "data/fetch.h"
#include "data/known_sets.h"
#include "data/sparse/row_caches.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDataExamples = R"(Examples:
  paceline data get mnist
  paceline data list
  paceline data clean
)";
constexpr const char* kGetExamples = R"(Examples:
  paceline data get mnist
  paceline data get mnist fashion-mnist --data-dir /srv/datasets
)";
constexpr const char* kListExamples = R"(Examples:
  paceline data list
  paceline data list --verify --json
)";

void add_get(CLI::App& data, const CommandContext& context) {
  CLI::App& command = *data.add_subcommand(
      "get",
      "Fetches datasets into the cache. Files are checked against known sums; what is "
      "there already, and as it should be, is not fetched again.");
  command.footer(kGetExamples);
  auto options = options_of<DataGetOptions>(command, context);
  options->data_dir = context.environment.cache_dir;
  command.add_option("NAME", options->names, join(known_set_names(), ", "))->required();
  command
      .add_option("--data-dir", options->data_dir, "where datasets are kept [~/.cache/paceline]")
      ->option_text("PATH");
}

void add_list(CLI::App& data, const CommandContext& context) {
  CLI::App& command =
      *data.add_subcommand("list",
                           "Shows which datasets are known and which are here, and what is kept "
                           "of sparse rows that were read.");
  command.footer(kListExamples);
  auto options = options_of<DataListOptions>(command, context);
  options->data_dir = context.environment.cache_dir;
  command
      .add_option("--data-dir", options->data_dir, "where datasets are kept [~/.cache/paceline]")
      ->option_text("PATH");
  command.add_option("--cache-dir", options->cache_dir, "where rows are kept [DATA-DIR/rows]")
      ->option_text("PATH");
  command.add_flag("--verify", options->verify, "read all files and compare their sums");
  command.add_flag("--json", options->json, "one JSON object");
}

nlohmann::json describe(const KnownSet& set, const fs::path& folder, bool verify) {
  std::uint64_t bytes = 0;
  for (const DataFile& file : set.files) bytes += file.bytes;
  nlohmann::json described = {{"name", set.name},
                              {"bytes", bytes},
                              {"here", is_complete(set, folder)},
                              {"incomplete", false},
                              {"folder", folder.string()}};
  if (!described["here"]) {
    std::error_code ignored;
    described["incomplete"] = fs::exists(folder, ignored);
    return described;
  }
  if (!verify) return described;
  try {
    verify_files(set, folder);
  } catch (const DataError& error) {
    described["damage"] = error.what();
  }
  return described;
}

std::string state_of(const nlohmann::json& set) {
  if (set.contains("damage")) return "damaged";
  if (set["incomplete"]) return "incomplete";
  return set["here"] ? "here" : "not here";
}

nlohmann::json describe(const FoundRowCache& cache) {
  std::vector<std::string> files;
  for (const fs::path& file : cache.origin.files) files.push_back(file.string());
  return {{"name", cache.path.filename().string()},
          {"bytes", cache.bytes},
          {"rows", cache.rows},
          {"state", name_of(cache.state)},
          {"settings", cache.origin.settings},
          {"files", files}};
}

std::string sources_of(const RowOrigin& origin) {
  if (origin.files.empty()) return "";
  std::string text = origin.files.front().string();
  if (origin.files.size() > 1) text += fmt::format(" and {} more", origin.files.size() - 1);
  return fmt::format("{} ({})", text, origin.settings);
}

void show(const std::vector<FoundRowCache>& caches, const Session& session) {
  std::vector<std::vector<std::string>> rows;
  bool useless = false;
  for (const FoundRowCache& cache : caches) {
    rows.push_back({cache.path.filename(), format_bytes(cache.bytes),
                    fmt::format("{} rows", format_count(cache.rows)), name_of(cache.state),
                    sources_of(cache.origin)});
    useless = useless || is_useless(cache.state);
  }
  if (rows.empty()) return;
  session.out << "\nrows that were read, in " << caches.front().path.parent_path().string() << "\n"
              << format_table(rows, session.environment.columns);
  if (useless) session.out << "paceline data clean removes those that no run will read\n";
}

}  // namespace

void add_data_command(CLI::App& root, const CommandContext& context) {
  CLI::App& command =
      *root.add_subcommand("data", "Fetches and lists datasets, removes what is kept of rows.");
  command.footer(kDataExamples);
  add_get(command, context);
  add_list(command, context);
  add_data_clean_command(command, context);
}

void run(const DataGetOptions& options, const Session& session) {
  require_data_dir(options.data_dir);
  // All names first: a misspelt one should not come to light after a long download.
  std::vector<KnownSet> sets;
  for (const std::string& name : options.names) sets.push_back(known_set(name));
  for (const KnownSet& set : sets) {
    fetch(set, options.data_dir,
          [&](std::string_view sentence) { session.out << sentence << std::endl; });
  }
}

void run(const DataListOptions& options, const Session& session) {
  require_data_dir(options.data_dir);
  nlohmann::json sets = nlohmann::json::array();
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> damage;
  for (const std::string& name : known_set_names()) {
    const auto set = describe(known_set(name), options.data_dir / name, options.verify);
    rows.push_back(
        {set["name"], format_bytes(set["bytes"]), state_of(set), set["here"] ? set["folder"] : ""});
    if (set.contains("damage")) damage.push_back(set["damage"]);
    sets.push_back(set);
  }
  const std::vector<FoundRowCache> caches =
      find_row_caches(options.cache_dir.empty() ? options.data_dir / "rows" : options.cache_dir);
  if (options.json) {
    nlohmann::json kept = nlohmann::json::array();
    for (const FoundRowCache& cache : caches) kept.push_back(describe(cache));
    session.out << nlohmann::json{{"datasets", sets}, {"row_caches", kept}} << "\n";
  } else {
    session.out << format_table(rows, session.environment.columns);
    show(caches, session);
  }
  if (!damage.empty()) throw DataError("{}", join(damage, "\n"));
}

}  // namespace paceline
