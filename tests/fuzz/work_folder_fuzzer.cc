// Any bytes as the manifest of a preparation that is under way and as the reports of its tasks: a
// DataError, or what reads back the same when it is written again.
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file/file.h"
#include "base/temp_dir.h"
#include "fuzz/fuzz_target.h"
#include "prepare/group_step.h"
#include "prepare/number_step.h"
#include "prepare/read_step.h"
#include "prepare/work_folder.h"

namespace paceline {
namespace work_folder_fuzzer {

constexpr std::size_t kChecksum = 18;  // a line's end, sixteen digits, a line's end

void check_manifest(FuzzBytes bytes) {
  using Earlier = WorkFolder::Earlier;
  static const TempDir folder;
  const std::filesystem::path work = folder / "work";
  std::filesystem::create_directory(work);
  write_atomically(work / "manifest.json", as_text(bytes));
  write_atomically(work / "result", "");
  const nlohmann::json made_of = {{"a", 1}, {"b", {{"c", "d"}}}};
  accepts<DataError>([&] {
    WorkFolder gone_on(work, made_of, Earlier::kGoOn);
    require(gone_on.resumed() == std::filesystem::exists(work / "result"));
    const std::uint64_t chosen = gone_on.chosen("tasks", 7);
    require(gone_on.chosen("tasks", chosen + 1) == chosen);
  });
  const WorkFolder anew(work, made_of, Earlier::kDiscard);
  require(!anew.resumed() && !std::filesystem::exists(work / "result"));
}

void check_report(FuzzBytes bytes) {
  const BytesFile file(bytes);
  const nlohmann::json report = read_done(file.path());
  accepts<DataError>([&] {
    const ReadReport read = read_report(report);
    require(read_report(to_json(read)).rows == read.rows);
  });
  accepts<DataError>([&] { require(to_json(group_report(report)).is_object()); });
  accepts<DataError>([&] { require(to_json(number_report(report)).is_object()); });
  if (report.is_null()) return;
  const std::string written = sealed(report);
  const BytesFile again({reinterpret_cast<const std::uint8_t*>(written.data()), written.size()});
  require(read_done(again.path()) == report);
}

void run(FuzzBytes bytes) {
  const std::uint8_t choice = take_byte(bytes);
  if (choice % 32 == 0) return check_manifest(bytes);  // the disk makes it slow
  check_report(bytes);
}

// The checksum of all that is before it.
void seal(std::span<std::uint8_t> data) {
  if (data.size() <= 1 + kChecksum) return;
  const auto report = data.subspan(1, data.size() - 1 - kChecksum);
  std::ranges::replace(report, std::uint8_t{'\n'}, std::uint8_t{' '});
  std::ranges::copy(fmt::format("\n{:016x}\n", XXH3_64bits(report.data(), report.size())),
                    data.end() - kChecksum);
}

}  // namespace work_folder_fuzzer

const FuzzTarget kWorkFolderFuzzer{"work_folder", work_folder_fuzzer::run,
                                   work_folder_fuzzer::seal};

}  // namespace paceline
