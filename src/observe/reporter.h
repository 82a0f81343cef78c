// How a run tells what it does. The console implements it; so may a test.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "base/clock.h"

namespace paceline {

struct RunProgress {
  std::uint64_t epoch = 1;  // the one being worked on, from 1
  std::uint64_t epochs = 1;
  std::uint64_t examples_done = 0;   // over the whole run
  std::uint64_t examples_total = 0;  // over the whole run
  double examples_per_second = 0;
  double loss = 0;  // mean of this epoch so far
  Duration eta{};   // until the end of the run
};

struct EpochResult {
  std::uint64_t epoch = 1;
  std::uint64_t epochs = 1;
  double loss = 0;           // of training
  double test_loss = 0;      // NaN: not tested
  double test_accuracy = 0;  // in [0, 1]; NaN: not tested
  Duration took{};
  std::optional<double> test_rmse{};  // in the place of accuracy, of models that predict numbers
};

// One thread at a time.
class Reporter {
 public:
  virtual ~Reporter() = default;
  virtual void progress(const RunProgress& progress) = 0;  // as often as one likes
  virtual void epoch(const EpochResult& result) = 0;
  virtual void notice(const std::string& sentence) = 0;
  virtual void warning(const std::string& sentence) = 0;
  // The content of summary.json. Units are read off the keys (see format.h); "roles" is an
  // array of objects, each with a "name".
  virtual void summary(const nlohmann::json& summary) = 0;
};

}  // namespace paceline
