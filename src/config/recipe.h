// Recipes and config.toml: the same TOML, one key per setting and a table per group.
//
// A recipe leaves out what is as usual; config.toml, written into the run directory, has
// every setting, so that all roles of a run and a later --resume see the same values. It
// can be used as a recipe for another run: where the first one was written and what it went
// on from are left out then.
// Failures are ConfigErrors that start with FILE:LINE:COLUMN.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/no_effect.h"
#include "config/run_config.h"

namespace paceline {

// The file of a recipe: itself when `name` is a path (contains '/' or ends in ".toml"),
// otherwise NAME.toml in the first of `directories` that has it.
std::filesystem::path find_recipe(const std::string& name,
                                  std::span<const std::filesystem::path> directories);

// Names of the recipes in all of `directories`, sorted.
std::vector<std::string> recipe_names(std::span<const std::filesystem::path> directories);

enum class TomlKind { kRecipe, kConfig };

// Sets in `config` what the text sets, and returns what it names ("FILE:3:1: momentum").
// `source` names the text in messages.
NamedSettings apply_toml(std::string_view text, const std::string& source, TomlKind kind,
                         RunConfig& config);

// apply_toml on a file over the defaults. config.recipe becomes the file's stem, or stays
// what it was in a config.toml; settings that have no effect are refused unless the file is
// one.
RunConfig read_recipe(const std::filesystem::path& file);
RunConfig read_config(const std::filesystem::path& file);

// The text of config.toml: parse_config and read_config give back the same configuration.
std::string config_toml(const RunConfig& config);
RunConfig parse_config(std::string_view text, const std::string& source);

// A digest of what all processes of a run must agree on: of all settings but those that are each
// host's own, such as paths.
std::string shared_digest(const RunConfig& config);

}  // namespace paceline
