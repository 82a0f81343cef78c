// What the commands do, as functions: the commands parse, call one of these and show what
// it returns. Each throws an Error when it cannot do its work.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <ostream>

#include "cli/options.h"
#include "infer/evaluate.h"
#include "infer/export.h"
#include "infer/predict.h"
#include "observe/reporter.h"

namespace paceline {

struct Actions {
  // Runs to the end, the data fetched first when it is not there.
  std::function<void(const RunConfig&, Reporter&)> train;
  // What one of its workers computes when it waits for nothing, as an object.
  std::function<nlohmann::json(const RunConfig&, Reporter&)> ideal;
  // What a run would need, without starting it: an object for people and machines.
  std::function<nlohmann::json(const RunConfig&)> estimate;
  std::function<Evaluation(const EvaluateOptions&)> evaluate;
  std::function<void(const std::filesystem::path& target, const std::filesystem::path& input,
                     const EachPredictions& each)>
      predict;
  std::function<void(const std::filesystem::path& target, const std::filesystem::path& output)>
      export_weights;
  std::function<void(const BenchOptions&, std::ostream&)> bench;
  std::function<void(const RoleOptions&)> role;
};

// The real ones.
Actions make_actions();

}  // namespace paceline
