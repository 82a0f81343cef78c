// Any text as a recipe and as a config.toml: a ConfigError, or settings that are the same when they
// are written down and read again.
#include "base/error.h"
#include "config/recipe.h"
#include "config/resolve.h"
#include "fuzz/fuzz_target.h"

namespace paceline {
namespace recipe_fuzzer {

void check(std::string_view text, TomlKind kind) {
  accepts<ConfigError>([&] {
    RunConfig config;
    const NamedSettings named = apply_toml(text, "fuzzed.toml", kind, config);
    const std::string written = config_toml(config);
    RunConfig again;
    apply_toml(written, "again.toml", TomlKind::kConfig, again);
    require(config_toml(again) == written);
    accepts<ConfigError>([&] { check_effects(config, named); });
    accepts<ConfigError>([&] { validate(config, Purpose::kEstimate); });
  });
}

void run(FuzzBytes bytes) {
  const TomlKind kind = take_byte(bytes) % 2 == 0 ? TomlKind::kRecipe : TomlKind::kConfig;
  check(as_text(bytes), kind);
}

}  // namespace recipe_fuzzer

const FuzzTarget kRecipeFuzzer{"recipe", recipe_fuzzer::run};

}  // namespace paceline
