#include "lab/measurements.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/file/file.h"

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

Measure Measurements::program(const Probe& probe) const {
  return [probe, *this] {
    nlohmann::json report = runner_.run({.file = places_.programs / probe.program,
                                         .arguments = probe.arguments,
                                         .one_core = probe.one_core});
    const double value = probe.scale * number_in(report, probe.field, probe.program);
    return Sample{value, std::move(report)};
  };
}

Measure Measurements::on_mnist(const Probe& probe) const {
  return [probe, *this] {
    Probe with_folder = probe;
    with_folder.arguments.insert(with_folder.arguments.begin(), places_.mnist().string());
    return program(with_folder)();
  };
}

std::pair<Measure, Measure> Measurements::both_on_mnist(const Probe& probe, const std::string& ours,
                                                        const std::string& peer) const {
  // The side that is measured first runs the program, the other reads what it has reported.
  const auto reports = std::make_shared<std::map<std::string, nlohmann::json>>();
  const auto side = [&](const std::string& field, const std::string& other) -> Measure {
    return [probe, reports, field, other, *this] {
      if (!reports->contains(field)) {
        Probe first = probe;
        first.field = field;
        const Sample sample = on_mnist(first)();
        (*reports)[field] = (*reports)[other] = sample.report;
      }
      nlohmann::json report = std::move(reports->extract(field).mapped());
      const double value = probe.scale * number_in(report, field, probe.program);
      return Sample{value, std::move(report)};
    };
  };
  return {side(ours, peer), side(peer, ours)};
}

Measure Measurements::paceline(std::vector<std::string> words,
                               double (*value)(const nlohmann::json&), bool twin) const {
  return [words = std::move(words), value, twin, *this] {
    const fs::path folder = runner_.fresh_folder();
    fs::create_directories(folder);
    const auto in = [&](const char* name) {
      Program program{places_.paceline, words};
      program.arguments.insert(program.arguments.end(), {"--run-dir", (folder / name).string()});
      return program;
    };
    std::unique_ptr<Companion> companion;
    if (twin) companion = std::make_unique<Companion>(in("twin"), folder / "twin-output");
    nlohmann::json report = runner_.run(in("run"));
    const double measured = value(report);
    return Sample{measured, std::move(report)};
  };
}

Measure Measurements::training(const std::string& mode,
                               double (*value)(const nlohmann::json&)) const {
  return [mode, value, *this] {
    const fs::path data_dir = places_.mnist().parent_path();
    const fs::path run_dir = runner_.fresh_folder();
    runner_.run({places_.paceline, training_arguments(mode, data_dir, run_dir)});
    auto summary = nlohmann::json::parse(read_text(run_dir / "summary.json"));
    const double measured = value(summary);
    return Sample{measured, std::move(summary)};
  };
}

fs::path Measurements::made_up_clicks() const {
  if (fs::exists(places_.clicks / "hidden.json")) return places_.clicks;
  const nlohmann::json hidden = runner_.run(
      {.file = places_.programs / "clicks_bench", .arguments = {"write", places_.clicks.string()}});
  write_atomically(places_.clicks / "hidden.json", hidden.dump() + "\n");
  return places_.clicks;
}

std::vector<std::string> Measurements::click_words() const {
  const fs::path folder = made_up_clicks();
  return {"clicks",
          "--data-file",
          (folder / "train.svm").string(),
          "--test-file",
          (folder / "test.svm").string(),
          "--cache-dir",
          (folder / "rows").string()};
}

Measure Measurements::on_clicks(const Probe& probe) const {
  return [probe, *this] {
    Probe with_folder = probe;
    with_folder.arguments.push_back(made_up_clicks().string());
    return program(with_folder)();
  };
}

Measure Measurements::clicks(const ClickRun& run, double (*value)(const nlohmann::json&)) const {
  return [run, value, *this] {
    const fs::path folder = made_up_clicks();
    const fs::path run_dir = runner_.fresh_folder();
    const fs::path cache = run.fresh ? run_dir / "rows" : folder / "rows";
    Program program{
        .file = places_.paceline,
        .arguments = {"train", "clicks", "--quiet", "--json", "--run-dir", run_dir.string(),
                      "--data-file", (folder / "train.svm").string(), "--test-file",
                      (folder / "test.svm").string(), "--cache-dir", cache.string()},
        .one_core = run.one_core};
    program.arguments.insert(program.arguments.end(), run.words.begin(), run.words.end());
    const TimePoint begun = Clock::now();
    runner_.run(program);
    const double took = seconds(Clock::now() - begun);
    auto summary = nlohmann::json::parse(read_text(run_dir / "summary.json"));
    summary["process_seconds"] = took;
    const auto hidden = nlohmann::json::parse(read_text(folder / "hidden.json"));
    summary["hidden_test_loss"] = hidden["hidden_test_loss"];
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

std::string text_in(const nlohmann::json& report, const std::string& field,
                    const std::string& who) {
  const auto found = report.find(field);
  if (found == report.end() || !found->is_string()) {
    throw Error(fmt::format("{} reported no text '{}'", who, field));
  }
  return found->get<std::string>();
}

}  // namespace paceline
