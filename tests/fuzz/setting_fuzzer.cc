// Any text as the value of any setting, any words as a command line, any variables as the
// environment: a ConfigError, or values that are the same when they are written down and read
// again.
#include <array>
#include <map>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "cli/commands/command_line.h"
#include "config/environment.h"
#include "config/resolve.h"
#include "config/settings.h"
#include "fuzz/fuzz_target.h"

namespace paceline {
namespace setting_fuzzer {

void check_value(FuzzBytes bytes) {
  const Setting& setting = settings()[take_byte(bytes) % settings().size()];
  accepts<ConfigError>([&] {
    RunConfig config;
    setting.parse(config, as_text(bytes));
    const std::string written = setting.format(config);
    RunConfig again;
    setting.parse(again, written);
    require(setting.format(again) == written);
  });
}

// Every line a word.
void check_words(FuzzBytes bytes) {
  Environment environment;
  environment.cache_dir = "/nowhere";
  const std::vector<std::string> words = split(as_text(bytes), '\n');
  accepts<ConfigError>([&] { parse_command_line(words, environment); });
}

// Flags as a command line hands them on: KEY=VALUE, each on a line. Those that name files are left
// out.
void check_flags(FuzzBytes bytes) {
  ConfigSources sources;
  for (const std::string& line : split(as_text(bytes), '\n')) {
    const std::size_t end = std::min(line.find('='), line.size());
    const Setting* setting = find_setting(line.substr(0, end));
    if (setting == nullptr || setting->type == SettingType::kPath) continue;
    sources.flags[setting->key] = line.substr(std::min(end + 1, line.size()));
  }
  Environment environment;
  environment.cache_dir = "/nowhere";
  accepts<ConfigError>([&] { validate(resolve(sources, environment), Purpose::kRun); });
}

std::map<std::string, std::string>& variables() {
  static std::map<std::string, std::string> all;
  return all;
}

const char* variable(const char* name) {
  const auto found = variables().find(name);
  return found == variables().end() ? "" : found->second.c_str();
}

void check_environment(FuzzBytes bytes) {
  constexpr std::array kNames = {
      "XDG_CACHE_HOME",       "HOME",      "TERM", "NO_COLOR", "COLUMNS", "OMPI_COMM_WORLD_SIZE",
      "SLURM_STEP_NUM_TASKS", "PMIX_RANK", "PATH"};
  variables().clear();
  const int window = take_byte(bytes);
  std::size_t number = 0;
  for (const std::string& value : split(as_text(bytes), '\n')) {
    variables()[kNames[number++ % kNames.size()]] = value.substr(0, value.find('\0'));
  }
  const Environment environment = read_environment(variable, window % 2 == 0, window);
  require(environment.columns >= 20);
  require(environment.cache_dir.empty() || environment.cache_dir.is_absolute() ||
          environment.cache_dir.string().starts_with(variables()["HOME"]));
  require(environment.terminal || !environment.color);
}

void run(FuzzBytes bytes) {
  const std::uint8_t choice = take_byte(bytes);
  if (choice == 3) return check_words(bytes);  // making all options takes long
  if (choice % 4 == 0) return check_flags(bytes);
  if (choice % 4 == 1) return check_environment(bytes);
  check_value(bytes);
}

}  // namespace setting_fuzzer

const FuzzTarget kSettingFuzzer{"setting", setting_fuzzer::run};

}  // namespace paceline
