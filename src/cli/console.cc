#include "cli/console.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.h"
#include "base/units.h"
#include "cli/format.h"
#include "cli/summary.h"

namespace paceline {
namespace {

using namespace std::chrono_literals;

constexpr Duration kRedraw = 100ms;  // on a terminal, and for programs that draw

// The last column, where some terminals wrap at once, and two for the "^C" of Ctrl-C.
constexpr int kFreeColumns = 3;

constexpr const char* kClearLine = "\r\x1b[K";
constexpr const char* kHideCursor = "\x1b[?25l";
constexpr const char* kShowCursor = "\x1b[?25h";
constexpr const char* kYellow = "\x1b[33m";
constexpr const char* kPlainText = "\x1b[0m";

double fraction(const RunProgress& progress) {
  if (progress.examples_total == 0) return 0;
  return std::min(1.0, static_cast<double>(progress.examples_done) /
                           static_cast<double>(progress.examples_total));
}

std::string examples_rate(double per_second) {
  if (per_second >= 999'500) return fmt::format("{:.2f} M examples/s", per_second / 1e6);
  if (per_second >= 9'995) return fmt::format("{:.0f} k examples/s", per_second / 1e3);
  return fmt::format("{:.0f} examples/s", per_second);
}

std::string plain_progress(const RunProgress& p) {
  return fmt::format("epoch {}/{}  {:.0f} %  {}  loss {}  ETA {}", p.epoch, p.epochs,
                     std::floor(fraction(p) * 100), examples_rate(p.examples_per_second),
                     format_loss(p.loss), clock_time(seconds(p.eta)));
}

std::string test_words(const EpochResult& r) {
  if (r.test_rmse) {
    return "test rmse " + (std::isnan(*r.test_rmse) ? "–" : format_loss(*r.test_rmse));
  }
  if (std::isnan(r.test_accuracy)) return "test accuracy –";
  return fmt::format("test accuracy {:5.2f} %", r.test_accuracy * 100);
}

std::string epoch_line(const EpochResult& r) {
  const auto digits = std::to_string(r.epochs).size();
  return fmt::format("epoch {:>{}}  loss {}  {}  {}", r.epoch, std::max<std::size_t>(2, digits),
                     format_loss(r.loss), test_words(r), format_duration(r.took));
}

// What fits a terminal: the epochs have been shown, and the error is the last word of all,
// in a sentence of its own.
nlohmann::json last_words(const nlohmann::json& summary) {
  nlohmann::json shown = readable_summary(summary);
  for (const char* detail :
       {"epoch_results", "recipe", "batch", "examples_total", "epochs", "error"}) {
    shown.erase(detail);
  }
  return shown;
}

}  // namespace

std::string progress_line(const RunProgress& p, int columns, bool color) {
  constexpr std::size_t kNarrowestBar = 5;
  constexpr std::size_t kWidestBar = 30;
  const auto width = static_cast<std::size_t>(std::max(columns, 1));
  const std::string left = fmt::format("epoch {}/{} ", p.epoch, p.epochs);
  std::string right = fmt::format(" {:3.0f} %", std::floor(fraction(p) * 100));
  const std::string parts[] = {"  " + examples_rate(p.examples_per_second),
                               "  loss " + format_loss(p.loss),
                               "  ETA " + clock_time(seconds(p.eta))};
  const auto fits = [&](const std::string& more) {
    return display_width(left) + kNarrowestBar + display_width(right) + display_width(more) <=
           width;
  };
  for (const auto& part : parts) {
    if (!fits(part)) break;
    right += part;
  }
  const std::size_t text = display_width(left) + display_width(right);
  if (text + kNarrowestBar > width) return shorten(left + right, width);
  return left + progress_bar(fraction(p), std::min(kWidestBar, width - text), color) + right;
}

Console::Console(std::ostream& out, std::ostream& err, ConsoleOptions options)
    : out_(out), err_(err), options_(std::move(options)) {}

Console::~Console() {
  clear();
}

void Console::progress(const RunProgress& p) {
  if (options_.quiet) return;
  if (!due(options_.mode == ConsoleMode::kPlain ? kPlainInterval : kRedraw)) return;
  switch (options_.mode) {
    case ConsoleMode::kTerminal:
      return draw(progress_line(p, options_.columns - kFreeColumns, options_.color));
    case ConsoleMode::kPlain:
      return line(plain_progress(p));
    case ConsoleMode::kJson:
      return object("progress", {{"epoch", p.epoch},
                                 {"epochs", p.epochs},
                                 {"examples_done", p.examples_done},
                                 {"examples_total", p.examples_total},
                                 {"examples_per_second", p.examples_per_second},
                                 {"train_loss", p.loss},
                                 {"eta_seconds", seconds(p.eta)}});
  }
}

void Console::epoch(const EpochResult& r) {
  if (options_.quiet) return;
  if (options_.mode != ConsoleMode::kJson) return line(epoch_line(r));
  object("epoch", {{"epoch", r.epoch},
                   {"epochs", r.epochs},
                   {"train_loss", r.loss},
                   {"test_loss", r.test_loss},
                   {r.test_rmse ? "test_rmse" : "test_accuracy",
                    r.test_rmse ? *r.test_rmse : r.test_accuracy},
                   {"seconds", seconds(r.took)}});
}

void Console::notice(const std::string& sentence) {
  if (options_.quiet) return;
  if (options_.mode != ConsoleMode::kJson) return line(sentence);
  object("notice", {{"text", sentence}});
}

void Console::warning(const std::string& sentence) {
  if (options_.mode == ConsoleMode::kJson) return object("warning", {{"text", sentence}});
  clear();
  err_ << (options_.color ? kYellow : "") << "warning:" << (options_.color ? kPlainText : "") << ' '
       << sentence << std::endl;
}

void Console::summary(const nlohmann::json& summary) {
  if (options_.mode == ConsoleMode::kJson) return object("summary", summary);
  clear();
  out_ << (options_.quiet ? "" : "\n") << format_object(last_words(summary), options_.columns)
       << std::flush;
}

// The first progress of all is due at once on a terminal; a log waits, so that short runs
// leave only their epochs there.
bool Console::due(Duration interval) {
  const TimePoint now = options_.now();
  if (!drew_before_) {
    drew_before_ = true;
    last_progress_ = now;
    return options_.mode != ConsoleMode::kPlain;
  }
  if (now - last_progress_ < interval) return false;
  last_progress_ = now;
  return true;
}

void Console::draw(const std::string& text) {
  if (!std::exchange(cursor_hidden_, true)) out_ << kHideCursor;
  out_ << kClearLine << text << std::flush;
  drawn_ = true;
}

void Console::clear() {
  if (std::exchange(drawn_, false)) out_ << kClearLine;
  if (std::exchange(cursor_hidden_, false)) out_ << kShowCursor << std::flush;
}

void Console::line(const std::string& text) {
  clear();
  out_ << text << std::endl;
}

void Console::object(const char* type, const nlohmann::json& fields) {
  nlohmann::json all = {{"type", type}};
  all.update(fields);
  out_ << to_text(all) << std::endl;
}

}  // namespace paceline
