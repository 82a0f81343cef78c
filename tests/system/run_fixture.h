// Whole runs with real processes on small generated data.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/temp_dir.h"
#include "system/paceline_process.h"

namespace paceline {

using Arguments = std::vector<std::string>;

class SyntheticRun : public ::testing::Test {
 protected:
  std::filesystem::path path(const std::string& name) const { return dir_.path() / name; }

  // 997 examples in batches of 100: neither divides by the workers, tiles or servers.
  Arguments train(const std::string& name, const Arguments& more) const {
    // clang-format off
    Arguments arguments = {
        "train", "synthetic", "--run-dir", path(name).string(), "--quiet",
        "--synthetic-examples", "997", "--synthetic-test-examples", "200",
        "--synthetic-width", "61", "--batch", "100", "--epochs", "3", "--rate", "0.2"};
    // clang-format on
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  Result paceline(const Arguments& arguments) const {
    return paceline::paceline(dir_.path(), arguments);
  }
  void run(const std::string& name, const Arguments& more) const {
    const Result result = paceline(train(name, more));
    ASSERT_EQ(result.code, 0) << name << ":\n" << result.output;
  }
  std::vector<float> parameters(const std::string& name) const {
    return final_parameters(path(name));
  }
  nlohmann::json summary(const std::string& name) const { return summary_of(path(name)); }

  TempDir dir_;
};

// Largest difference, relative to the largest parameter.
inline double difference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0;
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(a[i])));
    most = std::max(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  return most / largest;
}

// Long enough to be hit in the middle: the epochs are many and short.
#if defined(__SANITIZE_THREAD__)
inline constexpr int kEpochs = 250;  // sanitizers make them longer
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr int kEpochs = 500;
#else
inline constexpr int kEpochs = 2000;
#endif
inline constexpr int kExamples = 997 * kEpochs;

class LongRun : public SyntheticRun {
 protected:
  Arguments train(const std::string& name, const Arguments& more) const {
    Arguments arguments = {"--epochs", std::to_string(kEpochs), "--checkpoint-every", "100"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return SyntheticRun::train(name, arguments);
  }
  bool has_begun(const std::string& name) const {
    return eventually(20, [&] {
      std::ifstream in(path(name) / "metrics.jsonl");
      for (std::string line; std::getline(in, line);) {
        if (line.find("progress") != std::string::npos) return true;
      }
      return false;
    });
  }
  bool has_saved(const std::string& name) const {
    return eventually(20, [&] {
      const auto folder = path(name) / "checkpoints";
      return std::filesystem::exists(folder) && names_in(folder).size() > 2;
    });
  }
  std::string log(const std::string& name, const std::string& role) const {
    return read_text(path(name) / "logs" / (role + ".log"));
  }
};

}  // namespace paceline
