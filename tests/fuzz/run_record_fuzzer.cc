// Any bytes as what a run has written down: as metrics.jsonl, whose lines are those of epochs or
// passed over; as summary.json, a DataError or something to show; as the lines that the chief tells
// whoever has started it, a CommError or something to show.
#include <fcntl.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "base/file/file.h"
#include "base/json.h"
#include "base/temp_dir.h"
#include "cli/console.h"
#include "cli/format.h"
#include "cli/summary.h"
#include "fuzz/fuzz_target.h"
#include "observe/metrics_file.h"
#include "observe/summary_file.h"
#include "train/status_lines.h"

namespace paceline {
namespace run_record_fuzzer {

void check_metrics(FuzzBytes bytes) {
  const std::uint64_t version = take_byte(bytes);
  const BytesFile file(bytes);
  std::uint64_t before = 0;
  bool first = true;
  for (const nlohmann::json& epoch : read_epochs(file.path(), version)) {
    const std::uint64_t number = count_at(epoch, "epoch").value();
    require(text_at(epoch, "type") == "epoch" && count_at(epoch, "version").value() <= version);
    require(first || number > before);
    first = false;
    before = number;
  }
}

void check_summary(FuzzBytes bytes) {
  static const TempDir folder;
  write_atomically(folder / "summary.json", as_text(bytes));
  accepts<DataError>([&] {
    const nlohmann::json summary = read_summary(folder.path());
    require(summary.is_object());
    format_object(readable_summary(summary), 80);
  });
}

void check_lines(FuzzBytes bytes) {
  const std::uint8_t mode = take_byte(bytes);
  const BytesFile file(bytes);
  const int lines = ::open(file.path().c_str(), O_RDONLY | O_CLOEXEC);
  require(lines >= 0);
  std::ostringstream out;
  Console console(out, out, {.mode = static_cast<ConsoleMode>(mode % 3)});
  StatusLines status(console);
  try {
    while (status.read(lines)) {
    }
  } catch (const Error& error) {  // also a DataError, of a summary
    require(error.code() == ExitCode::kCommunication || error.code() == ExitCode::kData);
  }
  ::close(lines);
}

void run(FuzzBytes bytes) {
  const std::uint8_t choice = take_byte(bytes);
  if (choice % 16 == 0) return check_summary(bytes);  // the disk makes it slow
  if (choice % 2 == 0) return check_metrics(bytes);
  check_lines(bytes);
}

}  // namespace run_record_fuzzer

const FuzzTarget kRunRecordFuzzer{"run_record", run_record_fuzzer::run};

}  // namespace paceline
