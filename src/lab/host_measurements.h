// Measurements of figures that are measured between emulated hosts, one core each.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "lab/measurements.h"
#include "lab/network.h"

namespace paceline {

// How a program runs on all hosts at once.
struct HostProbe {
  std::string program;  // of bench/
  // RANK, SIZE, ADDRESS (its own), FIRST (host 0's) and NOTES (a folder) stand for what they
  // say on each host.
  std::vector<std::string> arguments;
  std::string field;  // of what rank 0 reports
  double scale = 1;
};

// What it returns shares the networks, which are made when they are first needed; `runner`
// must outlive it.
class HostMeasurements {
 public:
  HostMeasurements(BenchPlaces places, Runner& runner)
      : places_(std::move(places)), runner_(runner) {}

  Measure program(double bits_per_second, const HostProbe& probe) const;
  // Seconds that a link needs for so many bytes, by iperf3.
  Measure link(double bits_per_second, double bytes) const;
  // `paceline train` with these words; `value` reads its summary.json.
  Measure training(double bits_per_second, const std::vector<std::string>& words,
                   double (*value)(const nlohmann::json&)) const;
  // The same run for both measurements of a figure: `value`, and `bound` for the bytes per second
  // that iperf3 finds. Words are asked for when it is measured.
  using Words = std::function<std::vector<std::string>()>;
  using Bound = double (*)(const nlohmann::json& summary, double bytes_per_second);
  std::pair<Measure, Measure> training_and_bound(double bits_per_second, const Words& words,
                                                 double (*value)(const nlohmann::json&),
                                                 Bound bound) const;

 private:
  const EmulatedNetwork& network(double bits_per_second) const;

  BenchPlaces places_;
  Runner& runner_;
  std::shared_ptr<std::map<double, std::unique_ptr<EmulatedNetwork>>> networks_ =
      std::make_shared<std::map<double, std::unique_ptr<EmulatedNetwork>>>();
};

}  // namespace paceline
