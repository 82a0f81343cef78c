// The settings of a run, all of them, in the order in which help and documentation show
// them. Flags, recipe keys, config.toml and docs/settings.md are generated from here.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/setting.h"

namespace paceline {

std::span<const Setting> settings();

// Nothing when there is no such key.
const Setting* find_setting(std::string_view key);

// Keys that may stand in a recipe, or follow "--", as candidates for a suggestion.
std::vector<std::string> recipe_keys();
std::vector<std::string> flag_keys();

// The recipe and config.toml versions this program reads and writes.
inline constexpr int kRecipeSchema = 1;

// Text of docs/settings.md.
std::string settings_markdown();

}  // namespace paceline
