// `paceline evaluate`: a trained model on test examples.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "model/metrics.h"

namespace paceline {

struct EvaluateOptions {
  std::filesystem::path target;  // run directory or checkpoint
  std::string data;              // empty: what the run was trained on
  std::filesystem::path data_dir;
  std::filesystem::path test_file;  // of sparse rows; empty: those of the run
};

struct Evaluation {
  std::string checkpoint;  // the file that was evaluated
  std::string data;        // "mnist/test", or the file that was named
  Metrics metrics;
  std::uint64_t bad_lines = 0;  // of a file that was named: left out
};

Evaluation evaluate(const EvaluateOptions& options);

}  // namespace paceline
