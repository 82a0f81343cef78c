// What a person, or a program, sees of a run.
//
//   kTerminal  one progress line that is redrawn in place, above it the lines that stay
//   kPlain     the same lines without control characters, progress now and then
//   kJson      one object per line, each with a "type": progress, epoch, notice, warning,
//              summary
//
// Warnings go to `err` (in JSON to `out`), everything else to `out`. The progress line is
// removed before anything else is written, and the cursor is back when the console is
// destroyed. One thread at a time.
#pragma once

#include <functional>
#include <ostream>
#include <string>

#include "observe/reporter.h"

namespace paceline {

enum class ConsoleMode { kTerminal, kPlain, kJson };

// Progress that is not redrawn is written this often.
constexpr Duration kPlainInterval = std::chrono::seconds(5);

struct ConsoleOptions {
  ConsoleMode mode = ConsoleMode::kPlain;
  bool quiet = false;  // only warnings and the summary
  bool color = false;
  int columns = 80;
  std::function<TimePoint()> now = Clock::now;
};

class Console final : public Reporter {
 public:
  Console(std::ostream& out, std::ostream& err, ConsoleOptions options);
  ~Console() override;
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  void progress(const RunProgress& progress) override;
  void epoch(const EpochResult& result) override;
  void notice(const std::string& sentence) override;
  void warning(const std::string& sentence) override;
  void summary(const nlohmann::json& summary) override;

 private:
  bool due(Duration interval);
  void draw(const std::string& line);
  void clear();
  void line(const std::string& text);
  void object(const char* type, const nlohmann::json& fields);

  std::ostream& out_;
  std::ostream& err_;
  ConsoleOptions options_;
  bool drawn_ = false;  // a progress line is on the screen
  bool cursor_hidden_ = false;
  bool drew_before_ = false;
  TimePoint last_progress_;
};

// "epoch 3/10 ━━━━━━━━───── 62 %  412 k examples/s  loss 0.2871  ETA 00:04", at most `columns`
// wide: the bar shrinks first, then the parts on the right go.
std::string progress_line(const RunProgress& progress, int columns, bool color);

}  // namespace paceline
