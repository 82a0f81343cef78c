#include "prepare/read_step.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "data/clean.h"
#include "prepare/line_reader.h"

namespace paceline {

void ReadReport::add(const ReadReport& more) {
  rows += more.rows;
  for (std::size_t i = 0; i < kRejects; ++i) rejected[i] += more.rejected[i];
  replaced_bytes += more.replaced_bytes;
  runs += more.runs;
}

nlohmann::json to_json(const ReadReport& report) {
  return {{"rows", report.rows},
          {"rejected", report.rejected},
          {"replaced_bytes", report.replaced_bytes},
          {"runs", report.runs}};
}

ReadReport read_report(const nlohmann::json& json) {
  ReadReport report;
  json.at("rows").get_to(report.rows);
  json.at("rejected").get_to(report.rejected);
  json.at("replaced_bytes").get_to(report.replaced_bytes);
  json.at("runs").get_to(report.runs);
  return report;
}

std::filesystem::path run_path(const std::filesystem::path& name, std::uint64_t number) {
  return name.string() + fmt::format("-{}.run", number);
}

ReadReport read_portion(const ReadTask& task, const PrepareSettings& settings) {
  constexpr std::uint64_t kLinesPerLook = 1024;
  LineReader lines(task.file, task.portion);
  ReviewParser parser(task.file, settings.fields, settings.range);
  RunBuilder builder(task.memory);
  ReadReport report;
  const auto write = [&] { builder.write(run_path(task.name, report.runs++)); };
  const auto reject = [&](Reject reason) { ++report.rejected[static_cast<std::size_t>(reason)]; };
  std::uint64_t told = task.portion.begin;
  const auto tell = [&] {
    const std::uint64_t now = lines.consumed();
    if (now > told) task.progress += now - told;
    told = std::max(told, now);
  };
  std::string cleaned;
  RawReview review;
  while (const auto line = lines.next()) {
    if (++report.rows % kLinesPerLook == 0) {
      throw_if_stopped(task.stop);
      tell();
    }
    if (const Reject reason = parser.parse(*line, review); reason != Reject::kNone) {
      reject(reason);
      continue;
    }
    cleaned.clear();
    report.replaced_bytes += append_clean(review.text, cleaned);
    if (cleaned.empty()) {
      reject(Reject::kEmpty);
      continue;
    }
    builder.add(cleaned, review.rating);
    if (builder.full()) write();
  }
  if (!builder.empty()) write();
  report.rows += lines.too_long();
  report.rejected[static_cast<std::size_t>(Reject::kTooLong)] += lines.too_long();
  report.replaced_bytes += parser.replaced_bytes();
  tell();
  return report;
}

}  // namespace paceline
