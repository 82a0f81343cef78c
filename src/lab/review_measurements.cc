#include "lab/review_measurements.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file/file.h"
#include "prepare/stop_words.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

// So that no side waits for the disk.
void read_through(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::vector<char> block(1 << 20);
  while (in.read(block.data(), static_cast<std::streamsize>(block.size()))) {
  }
}

// Quiet, it leaves the last word to the program that has failed.
std::vector<std::string> mpi_prefix(const std::string& mpirun, int processes) {
  return {"env",
          "OMPI_ALLOW_RUN_AS_ROOT=1",
          "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
          mpirun,
          "--quiet",
          "--bind-to",
          "core",
          "-n",
          std::to_string(processes)};
}

}  // namespace

fs::path ReviewMeasurements::made_up(int megabytes) const {
  const fs::path file = places_.reviews / fmt::format("reviews-{}.json", megabytes);
  if (!fs::exists(file)) {
    fs::create_directories(places_.reviews);
    runner_.run({.file = places_.programs / "reviews_bench",
                 .arguments = {"write", file.string(), std::to_string(megabytes)}});
  }
  read_through(file);
  return file;
}

nlohmann::json ReviewMeasurements::prepared(const PrepareRun& run) const {
  const fs::path input = made_up(run.megabytes);
  const fs::path folder = runner_.fresh_folder();
  fs::create_directories(folder);
  Program program{.file = places_.paceline,
                  .arguments = {"prepare", "reviews", input.string(), "--output",
                                (folder / "reviews.h5").string(), "--json"},
                  .one_core = run.one_core};
  program.arguments.insert(program.arguments.end(), run.words.begin(), run.words.end());
  if (run.processes > 1) program.prefix = mpi_prefix(places_.mpirun, run.processes);
  Usage usage;
  const TimePoint begun = Clock::now();
  nlohmann::json summary = runner_.run(program, &usage);
  summary["process_seconds"] = seconds(Clock::now() - begun);
  summary["process_peak_rss_bytes"] = usage.peak_rss_bytes;
  return summary;
}

Measure ReviewMeasurements::prepare(const PrepareRun& run,
                                    double (*value)(const nlohmann::json&)) const {
  return [run, value, *this] {
    nlohmann::json summary = prepared(run);
    const double measured = value(summary);
    return Sample{measured, std::move(summary)};
  };
}

Measure ReviewMeasurements::script(int megabytes) const {
  return [megabytes, *this] {
    const fs::path input = made_up(megabytes);
    const fs::path folder = runner_.fresh_folder("script");
    fs::create_directories(folder);
    const fs::path stop_words = folder / "stop_words.txt";
    write_atomically(stop_words, fmt::format("{}\n", fmt::join(default_stop_words(), "\n")));
    const std::string output = (folder / "reviews.h5").string();
    nlohmann::json report = runner_.run({.file = places_.programs / "prepare_reviews.py",
                                         .arguments = {stop_words.string(), input.string(), output},
                                         .one_core = true});
    report["output"] = output;
    const double took = number_in(report, "seconds", "prepare_reviews.py");
    return Sample{took, std::move(report)};
  };
}

void ReviewMeasurements::same_rows(const Sample& ours, const Sample& script) const {
  const nlohmann::json found =
      runner_.run({.file = places_.programs / "compare_prepared.py",
                   .arguments = {text_in(ours.report, "output", "paceline"),
                                 text_in(script.report, "output", "the script")}});
  if (!found.value("equal", false)) {
    throw Error("the two measurements have prepared different files: " +
                found.value("difference", std::string("compare_prepared.py does not say where")));
  }
}

Measure ReviewMeasurements::reading(int megabytes) const {
  return [megabytes, *this] {
    const std::string file = text_in(prepared({.megabytes = megabytes}), "output", "paceline");
    nlohmann::json report = runner_.run({.file = places_.programs / "reviews_bench",
                                         .arguments = {"read", file},
                                         .one_core = true});
    const double rate = number_in(report, "sequences_per_second", "reviews_bench");
    return Sample{1e-6 * rate, std::move(report)};
  };
}

}  // namespace paceline
