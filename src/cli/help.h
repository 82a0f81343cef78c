// How --help looks: usage, what the command does, options by section, examples; never
// wider than the terminal.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace paceline {

class HelpFormatter final : public CLI::FormatterBase {
 public:
  explicit HelpFormatter(int columns);
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;

 private:
  std::string usage(const CLI::App& app) const;
  std::string commands(const CLI::App& app) const;
  std::string options(const CLI::App& app) const;
  std::string entry(const std::string& left, const std::string& right) const;

  std::size_t columns_;
};

// "paceline data get": the names from the root down to `app`.
std::string full_name(const CLI::App& app);

}  // namespace paceline
