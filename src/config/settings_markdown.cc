#include <fmt/format.h>

#include <string>

#include "base/text.h"
#include "config/settings.h"

namespace paceline {
namespace {

constexpr const char* kIntroduction = R"(# Settings

Every setting has one name: `--member-timeout 5s` on the command line is
`member-timeout = "5s"` in a recipe and in the `config.toml` of a run directory. Flags
override the recipe, the recipe overrides the defaults below. Booleans are
`--deterministic`, `--deterministic=false` or `--no-deterministic`, and `deterministic = true`
in a recipe. A TIME is written with its unit, `100us`, `250ms`, `2s`, `5min` or `1h`; BYTES are
`512M`, `1.5G` or `1GiB`. A setting that would have no effect, such as `momentum` with the
optimizer `sgd`, is refused.

A recipe starts with `schema = {schema}`. Groups of parameters are treated apart with tables:

```toml
[[group]]
prefix = "softmax.bias"  # tensors whose name starts so; the longest prefix wins
rate-factor = 2.0        # multiplies the rate
decay-factor = 0.0       # multiplies the decay
```

The `config.toml` of a run is a recipe, too: `paceline train runs/a/config.toml --run-dir runs/b`
trains anew with the same settings.

This file is written by `paceline settings --markdown`.
)";

std::string row(const Setting& setting) {
  std::string help = setting.help;
  if (!setting.choices.empty()) {
    help += fmt::format(": `{}`", join(setting.choices, "`, `"));
  }
  if (setting.scope == SettingScope::kCommandLine) help += " (not in recipes)";
  const std::string value = setting.type == SettingType::kBoolean ? "" : placeholder(setting.type);
  return fmt::format("| `{}` | {} | `{}` | {} |\n", setting.key, value.empty() ? "boolean" : value,
                     setting.default_text, help);
}

}  // namespace

std::string settings_markdown() {
  std::string out = fmt::format(fmt::runtime(kIntroduction), fmt::arg("schema", kRecipeSchema));
  std::string section;
  for (const Setting& setting : settings()) {
    if (setting.scope == SettingScope::kResolved) continue;
    if (setting.section != section) {
      section = setting.section;
      out += fmt::format("\n## {}\n\n| setting | value | default | meaning |\n|---|---|---|---|\n",
                         section);
    }
    out += row(setting);
  }
  return out;
}

}  // namespace paceline
