#include "prepare/read_step.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "data/clean.h"

namespace paceline {

void ReadReport::add(const ReadReport& more) {
  rows += more.rows;
  for (std::size_t i = 0; i < kRejects; ++i) rejected[i] += more.rejected[i];
  replaced_bytes += more.replaced_bytes;
  runs += more.runs;
  bytes += more.bytes;
}

nlohmann::json to_json(const ReadReport& report) {
  return {{"rows", report.rows},
          {"rejected", report.rejected},
          {"replaced_bytes", report.replaced_bytes},
          {"runs", report.runs},
          {"bytes", report.bytes}};
}

ReadReport read_report(const nlohmann::json& json) {
  return from_report([&] {
    ReadReport report;
    json.at("rows").get_to(report.rows);
    json.at("rejected").get_to(report.rejected);
    json.at("replaced_bytes").get_to(report.replaced_bytes);
    json.at("runs").get_to(report.runs);
    json.at("bytes").get_to(report.bytes);
    return report;
  });
}

std::filesystem::path run_path(const std::filesystem::path& name, std::uint64_t number) {
  return name.string() + fmt::format("-{}.run", number);
}

void ReviewReader::for_each(const std::function<void(std::string_view, const RawReview&)>& take,
                            const std::function<void()>& look) {
  constexpr std::uint64_t kLinesPerLook = 1024;
  const auto reject = [this](Reject reason) {
    ++report_.rejected[static_cast<std::size_t>(reason)];
  };
  std::string cleaned;
  RawReview review;
  for (std::uint64_t lines = 0; const auto line = lines_.next(); ++lines) {
    if (lines % kLinesPerLook == 0) {
      throw_if_stopped(stop_);
      look();
    }
    if (const Reject reason = parser_.parse(*line, review); reason != Reject::kNone) {
      ++report_.rows;
      reject(reason);
      continue;
    }
    report_.rows += review.times;
    cleaned.clear();
    report_.replaced_bytes += append_clean(review.text, cleaned);
    if (cleaned.empty()) {
      reject(Reject::kEmpty);
      continue;
    }
    take(cleaned, review);
  }
  report_.rows += lines_.too_long();
  report_.rejected[static_cast<std::size_t>(Reject::kTooLong)] += lines_.too_long();
  report_.replaced_bytes += parser_.replaced_bytes();
}

ReadReport read_portion(const ReadTask& task, const PrepareSettings& settings) {
  ReviewReader reader(task.file, task.portion, settings, task.stop);
  std::uint64_t runs = 0;
  const auto write = [&] { task.builder.write(run_path(task.name, runs++)); };
  std::uint64_t told = task.portion.begin;
  const auto tell = [&] {
    const std::uint64_t now = reader.consumed();
    if (now > told) task.progress += now - told;
    told = std::max(told, now);
  };
  reader.for_each(
      [&](std::string_view text, const RawReview& review) {
        task.builder.add(text, review.rating, review.times);
        if (task.builder.full()) write();
      },
      tell);
  if (!task.builder.empty()) write();
  tell();
  ReadReport report = reader.report();
  report.runs = runs;
  report.bytes = task.file.piped() ? reader.consumed() : task.portion.end - task.portion.begin;
  return report;
}

}  // namespace paceline
