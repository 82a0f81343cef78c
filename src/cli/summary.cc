#include "cli/summary.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace paceline {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// An epoch that was not tested has no test loss; one that was has a test accuracy.
void restore_nan(nlohmann::json& epoch) {
  const auto restore = [&](const char* key) {
    if (epoch.contains(key) && epoch[key].is_null()) epoch[key] = kNan;
  };
  restore("train_loss");
  if (epoch.contains("test_accuracy") && !epoch["test_accuracy"].is_null()) restore("test_loss");
}

// chief, servers, workers, evaluator; worker10 after worker9.
auto place_of(const nlohmann::json& role) {
  constexpr std::array<std::string_view, 4> kOrder = {"chief", "server", "worker", "evaluator"};
  const std::string name = role.value("name", "");
  const auto found = std::find_if(kOrder.begin(), kOrder.end(),
                                  [&](std::string_view kind) { return name.starts_with(kind); });
  return std::tuple(found == kOrder.end() ? -1 : found - kOrder.begin(), name.size(), name);
}

nlohmann::json made_readable(nlohmann::json summary) {
  if (summary.contains("epoch_results") && !summary["epoch_results"].empty()) {
    restore_nan(summary);
    for (nlohmann::json& epoch : summary["epoch_results"]) restore_nan(epoch);
  }
  if (summary.contains("unreadable_files")) {
    constexpr std::size_t kMostNames = 3;
    auto files = summary["unreadable_files"].get<std::vector<std::string>>();
    if (files.size() > kMostNames) {
      files.resize(kMostNames);
      files.emplace_back("…");
    }
    summary["unreadable_files"] = join(files, ", ");
  }
  if (summary.value("steps_skipped", 0) == 0) summary.erase("steps_skipped");
  if (summary.contains("roles")) {
    auto& roles = summary["roles"];
    std::stable_sort(roles.begin(), roles.end(), [](const auto& left, const auto& right) {
      return place_of(left) < place_of(right);
    });
    for (nlohmann::json& role : roles) {
      for (const char* detail : {"role", "host", "epochs"}) role.erase(detail);
    }
  }
  return summary;
}

}  // namespace

nlohmann::json readable_summary(nlohmann::json summary) {
  try {
    return made_readable(std::move(summary));
  } catch (const nlohmann::json::exception& error) {
    throw DataError("the summary is damaged: {}", error.what());
  }
}

}  // namespace paceline
