#include "lab/sides.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/file.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> training_arguments(const std::string& mode, const fs::path& data_dir,
                                            const fs::path& run_dir) {
  return {"train",      "mnist",
          "--mode",     mode,
          "--workers",  "2",
          "--servers",  "1",
          "--batch",    "100",
          "--rate",     "0.5",
          "--epochs",   "10",
          "--run-dir",  run_dir.string(),
          "--data-dir", data_dir.string(),
          "--json",     "--quiet"};
}

}  // namespace

Measure Sides::program(const Probe& probe) const {
  return [probe, *this] {
    nlohmann::json report = runner_.run({.file = places_.programs / probe.program,
                                         .arguments = probe.arguments,
                                         .one_core = probe.one_core});
    const double value = probe.scale * number_in(report, probe.field, probe.program);
    return Sample{value, std::move(report)};
  };
}

Measure Sides::on_mnist(const Probe& probe) const {
  return [probe, *this] {
    Probe with_folder = probe;
    with_folder.arguments.insert(with_folder.arguments.begin(), places_.mnist().string());
    return program(with_folder)();
  };
}

Measure Sides::training(const std::string& mode, double (*value)(const nlohmann::json&)) const {
  return [mode, value, *this] {
    const fs::path data_dir = places_.mnist().parent_path();
    const fs::path run_dir = runner_.fresh_folder();
    runner_.run({places_.paceline, training_arguments(mode, data_dir, run_dir)});
    auto summary = nlohmann::json::parse(read_text(run_dir / "summary.json"));
    const double measured = value(summary);
    return Sample{measured, std::move(summary)};
  };
}

Measure larger_of(const Measure& one, const Measure& other) {
  return [one, other] {
    Sample first = one();
    Sample second = other();
    return first.value > second.value ? first : second;
  };
}

double number_in(const nlohmann::json& report, const std::string& field, const std::string& who) {
  const auto found = report.find(field);
  if (found == report.end() || !found->is_number()) {
    throw Error(fmt::format("{} reported no number '{}'", who, field));
  }
  return found->get<double>();
}

}  // namespace paceline
