// Preparing reviews: made-up ones, by Paceline and by a script, and how fast the result is read.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "lab/figures.h"

namespace paceline {
namespace {

constexpr int kSmall = 300;    // megabytes, which a script has time for
constexpr int kMedium = 1000;  // long enough that starting does not count
constexpr int kLarge = 4000;   // many times the memory that may be used

double process_seconds_of(const nlohmann::json& summary) {
  return number_in(summary, "process_seconds", "paceline");
}

double work_seconds(const nlohmann::json& summary) {
  return number_in(summary, "seconds", "paceline");
}

double peak_megabytes(const nlohmann::json& summary) {
  return number_in(summary, "process_peak_rss_bytes", "paceline") / 1e6;
}

void same_content(const Sample& ours, const Sample& peer) {
  const std::string a = text_in(ours.report, "content_checksum", "paceline");
  const std::string b = text_in(peer.report, "content_checksum", "paceline");
  if (a != b)
    throw Error(fmt::format("the contents of the two measurements differ: {} and {}", a, b));
}

Figure vs_python(const ReviewMeasurements& measurements) {
  return {.name = "prepare.vs_python",
          .what = "from 300 MB of JSON lines to HDF5, one core, against a script with h5py",
          .comparison = Comparison::kAtLeast,
          .target = 12,
          .unit = "×",
          .relation = Relation::kPeerByOurs,
          .side_unit = "s",
          .ours = {"paceline",
                   measurements.prepare({kSmall, {"--threads", "1"}, true}, process_seconds_of)},
          .peer = {"python", measurements.script(kSmall)},
          .agree = [measurements](const Sample& ours,
                                  const Sample& peer) { measurements.same_rows(ours, peer); },
          .pairs = 3};
}

Figure two_processes(const ReviewMeasurements& measurements) {
  return {
      .name = "prepare.two",
      .what = "1 GB with two processes of a thread each, against one on one core",
      .comparison = Comparison::kAtLeast,
      .target = 1.6,
      .unit = "×",
      .relation = Relation::kPeerByOurs,
      .side_unit = "s",
      .ours = {"two", measurements.prepare({kMedium, {"--threads", "1"}, false, 2}, work_seconds)},
      .peer = {"one", measurements.prepare({kMedium, {"--threads", "1"}, true}, work_seconds)},
      .agree = same_content,
      .pairs = 5};
}

Figure memory_of_preparing(const ReviewMeasurements& measurements) {
  return {
      .name = "prepare.memory",
      .what = "peak memory with 4 GB of input, --memory 512M, all cores",
      .comparison = Comparison::kAtMost,
      .target = 600,
      .unit = "MB",
      .relation = Relation::kOursAlone,
      .side_unit = "MB",
      .ours = {"paceline", measurements.prepare({kLarge, {"--memory", "512M"}}, peak_megabytes)},
      .pairs = 1};
}

Figure reading_back(const ReviewMeasurements& measurements) {
  return {.name = "prepare.read",
          .what = "prepared reviews read by block, batches of 256, one core",
          .comparison = Comparison::kAtLeast,
          .target = 1,
          .unit = "M/s",
          .relation = Relation::kOursAlone,
          .side_unit = "M/s",
          .ours = {"paceline", measurements.reading(kSmall)},
          .pairs = 5};
}

}  // namespace

std::vector<Figure> make_prepare_figures(const ReviewMeasurements& measurements) {
  return {vs_python(measurements), two_processes(measurements), memory_of_preparing(measurements),
          reading_back(measurements)};
}

}  // namespace paceline
