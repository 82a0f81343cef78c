// Whole runs with real processes on small generated data.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "base/file/file.h"
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
  bool has_begun(const std::string& name, double seconds = 20) const {
    return eventually(seconds, [&] {
      std::ifstream in(path(name) / "metrics.jsonl");
      for (std::string line; std::getline(in, line);) {
        if (line.find("progress") != std::string::npos) return true;
      }
      return false;
    });
  }

  // A share that was lost or counted twice shows in the weights. A synchronous run that went
  // through faults must end with those of `undisturbed`, the arguments of a run on threads:
  // the same bits when both are deterministic (a tolerance of 0).
  void expect_undisturbed(const std::string& name, const Arguments& undisturbed,
                          double tolerance = 0) const;

  TempDir dir_;
};

// Largest difference, relative to the largest parameter; infinite where they cannot be compared.
inline double difference(const std::vector<float>& a, const std::vector<float>& b) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (a.size() != b.size()) return kInfinity;
  double largest = 0;
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) return kInfinity;
    largest = std::max(largest, std::abs(static_cast<double>(a[i])));
    most = std::max(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  return most == 0 ? 0 : most / largest;
}

inline void SyntheticRun::expect_undisturbed(const std::string& name, const Arguments& undisturbed,
                                             double tolerance) const {
  const Result result = paceline(undisturbed);
  ASSERT_EQ(result.code, 0) << result.output;
  const auto option = std::find(undisturbed.begin(), undisturbed.end(), "--run-dir");
  const Learned expected = learned_by(*std::next(option));
  const Learned learned = learned_by(path(name));
  EXPECT_EQ(learned.version, expected.version);
  ASSERT_EQ(learned.vectors.size(), expected.vectors.size());
  for (std::size_t i = 0; i < expected.vectors.size(); ++i) {
    const double apart = difference(expected.vectors[i], learned.vectors[i]);
    const bool same = learned.vectors[i] == expected.vectors[i];
    EXPECT_TRUE(tolerance > 0 ? apart <= tolerance : same)
        << name << ": vector " << i << " differs by " << apart << " of its largest number";
  }
}

// Long enough to be hit in the middle: the epochs are many and short.
#if defined(__SANITIZE_THREAD__)
inline constexpr int kEpochs = 120;  // sanitizers make them longer
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr int kEpochs = 200;
#else
inline constexpr int kEpochs = 2000;
#endif
inline constexpr int kExamples = 997 * kEpochs;
inline constexpr int kSaveEvery = kEpochs / 20;
// Of a run of so many steps whose sums were rounded in another order, relative to the largest
// number.
inline constexpr double kRounding = 2e-5;

class LongRun : public SyntheticRun {
 protected:
  // Adagrad's sums forget no gradient; the weights of plain descent would, in so many steps.
  Arguments train(const std::string& name, const Arguments& more) const {
    Arguments arguments = {"--epochs",           std::to_string(kEpochs),
                           "--checkpoint-every", std::to_string(kSaveEvery),
                           "--optimizer",        "adagrad"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return SyntheticRun::train(name, arguments);
  }
  void expect_undisturbed(const std::string& name, const Arguments& more = {},
                          double tolerance = 0) const {
    Arguments arguments = {"--exchange", "local", "--workers", "1", "--deterministic"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    SyntheticRun::expect_undisturbed(name, train("undisturbed-" + name, arguments), tolerance);
  }
  // A short deadline was for the fault: afterwards the disk may take its time.
  void resume(const std::string& name) const {
    const Result resumed =
        paceline({"train", "--resume", path(name).string(), "--quiet", "--deadline", "60s",
                  "--checkpoint-every", std::to_string(kSaveEvery)});
    ASSERT_EQ(resumed.code, 0) << resumed.output;
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
