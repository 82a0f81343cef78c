#include "cli/recipe.h"

#include <algorithm>
#include <set>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

namespace paceline {

namespace fs = std::filesystem;

fs::path find_recipe(const std::string& name, std::span<const fs::path> directories) {
  if (name.find('/') != std::string::npos || name.ends_with(".toml")) {
    std::error_code ignored;
    if (fs::is_regular_file(name, ignored)) return name;
    throw ConfigError("there is no recipe file '{}'", name);
  }
  for (const fs::path& directory : directories) {
    fs::path file = directory / (name + ".toml");
    std::error_code ignored;
    if (fs::is_regular_file(file, ignored)) return file;
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
  apply_toml(read_text(file), file, TomlKind::kRecipe, config);
  config.recipe = file.stem();
  return config;
}

RunConfig read_config(const fs::path& file) {
  RunConfig config;
  apply_toml(read_text(file), file, TomlKind::kConfig, config);
  return config;
}

}  // namespace paceline
