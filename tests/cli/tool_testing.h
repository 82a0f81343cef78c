// Runs the shell tools that CI relies on, on small trees of files.
#pragma once

#include <string>

#include "base/paths.h"
#include "base/process.h"
#include "config/testing.h"

namespace paceline {

struct ToolOutcome {
  bool ok = false;
  std::string output;
};

// `command` as the shell takes it, with the tools' folder first on its path.
inline ToolOutcome shell(const std::string& command) {
  Command started;
  started.arguments = {"sh", "-c", "PATH=" + source_path("tools") + ":$PATH; " + command};
  ToolOutcome outcome;
  outcome.ok = run(started, &outcome.output).status == 0;
  return outcome;
}

}  // namespace paceline
