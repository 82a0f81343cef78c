#include "config/recipe.h"

#include <algorithm>
#include <set>
#include <system_error>

#include "base/error.h"
#include "base/file/file.h"
#include "base/text.h"
#include "config/no_effect.h"

namespace paceline {

namespace fs = std::filesystem;

namespace {

// A folder in the place of a recipe: what may be meant by it.
void refuse_folder(const std::string& name) {
  std::error_code ignored;
  if (!fs::is_directory(name, ignored)) return;
  const fs::path config = fs::path(name) / "config.toml";
  if (!fs::exists(config, ignored)) throw ConfigError("{} is a folder, not a recipe", name);
  throw ConfigError(
      "{} is a run directory, not a recipe: go on from it with --resume {}, or train anew with its "
      "settings, {}",
      name, name, config.string());
}

}  // namespace

fs::path find_recipe(const std::string& name, std::span<const fs::path> directories) {
  std::error_code ignored;
  if (name.find('/') != std::string::npos || name.ends_with(".toml")) {
    if (fs::is_regular_file(name, ignored)) return name;
    refuse_folder(name);
    throw ConfigError("there is no recipe file '{}'", name);
  }
  for (const fs::path& directory : directories) {
    fs::path file = directory / (name + ".toml");
    if (fs::is_regular_file(file, ignored)) return file;
  }
  refuse_folder(name);
  if (fs::is_regular_file(name, ignored)) {
    throw ConfigError("there is no recipe '{}'; if the file is meant, write ./{}", name, name);
  }
  const auto names = recipe_names(directories);
  throw ConfigError("there is no recipe '{}'{} (recipes: {}; the path of a file works, too)", name,
                    did_you_mean(name, names), names.empty() ? "none found" : join(names, ", "));
}

std::vector<std::string> recipe_names(std::span<const fs::path> directories) {
  std::set<std::string> names;
  for (const fs::path& directory : directories) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(directory, ignored)) {
      if (entry.path().extension() == ".toml") names.insert(entry.path().stem());
    }
  }
  return {names.begin(), names.end()};
}

RunConfig read_recipe(const fs::path& file) {
  RunConfig config;
  const NamedSettings named = apply_toml(read_text(file), file, TomlKind::kRecipe, config);
  const bool written_by_a_run = !config.recipe.empty();  // it names every setting, used or not
  if (!written_by_a_run) check_effects(config, named);
  if (!written_by_a_run) config.recipe = file.stem();
  return config;
}

RunConfig read_config(const fs::path& file) {
  return parse_config(read_text(file), file);
}

RunConfig parse_config(std::string_view text, const std::string& source) {
  RunConfig config;
  apply_toml(text, source, TomlKind::kConfig, config);
  return config;
}

}  // namespace paceline
