// Measurements of the figures about preparing reviews. The reviews are made up when they are first
// needed, and kept.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "lab/figure.h"
#include "lab/measurements.h"
#include "lab/runner.h"

namespace paceline {

// How `paceline prepare reviews` is run.
struct PrepareRun {
  int megabytes = 0;                 // of made-up reviews
  std::vector<std::string> words{};  // more of them
  bool one_core = false;
  int processes = 1;  // more: started by mpirun, each on a core of its own
};

// What it returns holds a copy of the places; `runner` must outlive it.
class ReviewMeasurements {
 public:
  ReviewMeasurements(BenchPlaces places, Runner& runner)
      : places_(std::move(places)), runner_(runner) {}

  // `value` reads the summary, in which "process_seconds" and "process_peak_rss_bytes" are added:
  // how long all of it took and how much memory it had at most.
  Measure prepare(const PrepareRun& run, double (*value)(const nlohmann::json&)) const;
  // Seconds that bench/peers/prepare_reviews.py takes for the same, on one core.
  Measure script(int megabytes) const;
  // Throws an Error when the files of prepare() and of script() do not have the same rows.
  void same_rows(const Sample& ours, const Sample& script) const;
  // Millions of sequences a second that are read of what is prepared, on one core.
  Measure reading(int megabytes) const;

 private:
  // Makes them when they are not there, and has them in the page cache.
  std::filesystem::path made_up(int megabytes) const;
  nlohmann::json prepared(const PrepareRun& run) const;

  BenchPlaces places_;
  Runner& runner_;
};

}  // namespace paceline
