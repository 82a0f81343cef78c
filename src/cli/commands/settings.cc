#include "config/settings.h"

#include <memory>

#include "cli/commands/commands.h"
#include "cli/format.h"

namespace paceline {
namespace {

constexpr const char* kSettingsExamples = R"(Examples:
  paceline settings
  paceline settings | grep timeout

Each line is a setting, its default and what it is for.
)";

}  // namespace

void add_settings_command(CLI::App& root, const CommandContext& context) {
  CLI::App& command = *root.add_subcommand("settings", "Lists every setting of a run.");
  command.footer(kSettingsExamples);
  auto options = options_of<SettingsOptions>(command, context);
  command.add_flag("--markdown", options->markdown, "the text of docs/settings.md");
}

void run(const SettingsOptions& options, const Session& session) {
  if (options.markdown) {
    session.out << settings_markdown();
    return;
  }
  for (const Setting& setting : settings()) {
    if (setting.scope == SettingScope::kResolved) continue;
    session.out << setting.key << " = " << setting.default_text << "  # " << setting.help << "\n";
  }
}

void run(const ShowText& options, const Session& session) {
  session.out << options.text;
}

}  // namespace paceline
