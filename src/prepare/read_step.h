// The first step: a portion of raw reviews → sorted runs of cleaned texts with their ratings.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "prepare/line_reader.h"
#include "prepare/runs.h"
#include "prepare/settings.h"
#include "prepare/tasks.h"

namespace paceline {

struct ReadReport {
  std::uint64_t rows = 0;  // lines that hold something
  std::array<std::uint64_t, kRejects> rejected{};
  std::uint64_t replaced_bytes = 0;  // that were not UTF-8
  std::uint64_t runs = 0;
  std::uint64_t bytes = 0;  // as they are stored

  void add(const ReadReport& more);
};
nlohmann::json to_json(const ReadReport& report);
ReadReport read_report(const nlohmann::json& json);

// Reviews of a portion, cleaned. One thread at a time; throws DataError when the file cannot be
// read, and Interrupted.
class ReviewReader {
 public:
  ReviewReader(const InputFile& file, const Portion& portion, const PrepareSettings& settings,
               const StopFlag& stop)
      : stop_(stop), lines_(file, portion), parser_(file, settings.fields, settings.range) {}

  // Calls `take` with each text that has a word, and `look` now and then.
  void for_each(
      const std::function<void(std::string_view text, const RawReview& review)>& take,
      const std::function<void()>& look = [] {});

  const ReadReport& report() const { return report_; }
  std::uint64_t consumed() const { return lines_.consumed(); }  // bytes of the file as it is stored

 private:
  const StopFlag& stop_;
  LineReader lines_;
  ReviewParser parser_;
  ReadReport report_;
};

struct ReadTask {
  const InputFile& file;
  Portion portion;
  RunBuilder& builder;                   // empty, before and after
  std::filesystem::path name;            // of its files: NAME-0.run, …
  std::atomic<std::uint64_t>& progress;  // bytes of the file as it is stored
  const StopFlag& stop;
};

// Throws DataError when the file cannot be read or a run cannot be written.
ReadReport read_portion(const ReadTask& task, const PrepareSettings& settings);

std::filesystem::path run_path(const std::filesystem::path& name, std::uint64_t number);

}  // namespace paceline
