// What the commands do, as functions: the commands parse, call one of these and show what
// it returns. Each throws an Error when it cannot do its work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "cli/options.h"
#include "observe/reporter.h"

namespace paceline {

struct Evaluation {
  std::string checkpoint;  // the file that was evaluated
  std::string data;        // "mnist/test", or the file that was named
  std::uint64_t examples = 0;
  double loss = 0;
  std::optional<double> accuracy{};
  std::optional<double> auc{};   // of sparse rows
  std::optional<double> rmse{};  // in the place of accuracy, of models that predict numbers
  std::uint64_t bad_lines = 0;   // of a file that was named: left out
};

// Of some examples.
struct Predictions {
  std::size_t classes = 0;
  std::vector<float> probabilities;    // [examples, classes]
  std::vector<float> numbers;          // in their place, of models that answer with a number
  std::vector<std::string> sentences;  // in their place, of models that answer with words
  std::vector<std::string> names;      // of the classes; empty: they have numbers only
};

struct Actions {
  // Runs to the end, the data fetched first when it is not there.
  std::function<void(const RunConfig&, Reporter&)> train;
  // What one of its workers computes when it waits for nothing, as an object.
  std::function<nlohmann::json(const RunConfig&, Reporter&)> ideal;
  // What a run would need, without starting it: an object for people and machines.
  std::function<nlohmann::json(const RunConfig&)> estimate;
  std::function<Evaluation(const EvaluateOptions&)> evaluate;
  // `each` is called with some examples after the other, in their order.
  using EachPredictions = std::function<void(const Predictions&)>;
  std::function<void(const PredictOptions&, const EachPredictions& each)> predict;
  std::function<void(const ExportOptions&)> export_weights;
  std::function<void(const BenchOptions&, std::ostream&)> bench;
  std::function<void(const RoleOptions&)> role;
};

// The real ones.
Actions make_actions();

}  // namespace paceline
