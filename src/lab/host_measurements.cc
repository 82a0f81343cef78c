#include "lab/host_measurements.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/file/file.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> words_on(const Host& host, const HostProbe& probe, std::size_t rank,
                                  const std::vector<Host>& hosts, const fs::path& notes) {
  std::vector<std::string> words;
  for (const std::string& word : probe.arguments) {
    if (word == "RANK") {
      words.push_back(std::to_string(rank));
    } else if (word == "SIZE") {
      words.push_back(std::to_string(hosts.size()));
    } else if (word == "ADDRESS") {
      words.push_back(host.address);
    } else if (word == "FIRST") {
      words.push_back(hosts[0].address);
    } else if (word == "NOTES") {
      words.push_back(notes.string());
    } else {
      words.push_back(word);
    }
  }
  return words;
}

}  // namespace

const EmulatedNetwork& HostMeasurements::network(double bits_per_second) const {
  auto& made = (*networks_)[bits_per_second];
  if (!made) made = std::make_unique<EmulatedNetwork>(NetworkOptions{2, bits_per_second, true});
  return *made;
}

Measure HostMeasurements::program(double bits_per_second, const HostProbe& probe) const {
  return [bits_per_second, probe, *this] {
    const std::vector<Host>& hosts = network(bits_per_second).hosts();
    const fs::path notes = runner_.fresh_folder();
    fs::create_directories(notes);
    std::vector<std::unique_ptr<Companion>> companions;
    for (std::size_t rank = 1; rank < hosts.size(); ++rank) {
      const Program program{.file = places_.programs / probe.program,
                            .arguments = words_on(hosts[rank], probe, rank, hosts, notes),
                            .prefix = hosts[rank].prefix()};
      companions.push_back(
          std::make_unique<Companion>(program, notes / fmt::format("output{}", rank)));
    }
    nlohmann::json report = runner_.run({.file = places_.programs / probe.program,
                                         .arguments = words_on(hosts[0], probe, 0, hosts, notes),
                                         .prefix = hosts[0].prefix()});
    const double value = probe.scale * number_in(report, probe.field, probe.program);
    return Sample{value, std::move(report)};
  };
}

Measure HostMeasurements::link(double bits_per_second, double bytes) const {
  return [bits_per_second, bytes, *this] {
    const double rate = network(bits_per_second).measured_rate(0, 1);
    return Sample{bytes * 8 / rate, {{"bits_per_second", rate}}};
  };
}

Measure HostMeasurements::training(double bits_per_second, const std::vector<std::string>& words,
                                   double (*value)(const nlohmann::json&)) const {
  return [bits_per_second, words, value, *this] {
    const fs::path run_dir = runner_.fresh_folder();
    std::vector<std::string> arguments = {"train"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    arguments.insert(arguments.end(), {"--transport", "tcp", "--insecure", "--hosts",
                                       network(bits_per_second).text(), "--run-dir",
                                       run_dir.string(), "--json", "--quiet"});
    runner_.run({.file = places_.paceline, .arguments = arguments});
    auto summary = nlohmann::json::parse(read_text(run_dir / "summary.json"));
    const double measured = value(summary);
    return Sample{measured, std::move(summary)};
  };
}

std::pair<Measure, Measure> HostMeasurements::training_and_bound(
    double bits_per_second, const Words& words, double (*value)(const nlohmann::json&),
    Bound bound) const {
  const auto last = std::make_shared<nlohmann::json>();
  const auto ours = [bits_per_second, words, value, last, *this] {
    const Sample sample = training(bits_per_second, words(), value)();
    *last = sample.report;
    return sample;
  };
  const auto peer = [bits_per_second, bound, last, *this] {
    const double rate = network(bits_per_second).measured_rate(0, 1) / 8;
    return Sample{bound(*last, rate), {{"bytes_per_second", rate}}};
  };
  return {ours, peer};
}

}  // namespace paceline
