#include "lab/bench.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/process.h"
#include "data/fetch.h"
#include "data/known_sets.h"
#include "lab/figures.h"
#include "lab/measurements.h"
#include "lab/report.h"
#include "lab/runner.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

// More than this on average, and something besides the measured programs is running.
constexpr double kQuietLoad = 0.5;

double load_average() {
  double load = 0;
  std::ifstream("/proc/loadavg") >> load;
  return load;
}

BenchPlaces places_of(const BenchRequest& request, std::ostream& err) {
  const fs::path binary = this_executable();
  BenchPlaces places;
  places.paceline = binary;
  places.programs = binary.parent_path().parent_path() / "bench";
  places.mnist = [dir = request.data_dir, &err] {
    const KnownSet set = known_set("mnist");
    if (is_complete(set, dir / set.name)) return dir / set.name;
    return fetch(set, dir, [&](std::string_view line) { err << line << std::endl; });
  };
  places.clicks = request.data_dir / "made-up-clicks";
  places.reviews = request.data_dir / "made-up-reviews";
  return places;
}

void list(std::span<const Figure> figures, bool json, std::ostream& out) {
  for (const Figure& figure : figures) {
    const std::string target = target_text(figure);
    if (json) {
      out << nlohmann::json{{"name", figure.name},
                            {"what", figure.what},
                            {"target", target + " " + figure.unit}}
          << "\n";
    } else {
      out << fmt::format("{:<17} {:>6} {:<8} {}\n", figure.name, target, figure.unit, figure.what);
    }
  }
}

}  // namespace

std::string load_warning(double load, unsigned cores) {
  if (load <= kQuietLoad) return "";
  return fmt::format(
      "warning: the load of this machine is {:.1f} on {} cores: other programs are running, or "
      "were a minute ago, and the figures are worth little\n",
      load, cores);
}

void run_bench(std::span<const Figure> figures, const BenchRequest& request, std::ostream& out,
               std::ostream& err, int pairs) {
  const std::vector<Figure> selected = select(figures, request.names);
  if (request.list) {
    list(selected, request.json, out);
    return;
  }
  err << load_warning(load_average(), available_cores()) << std::flush;
  const auto tell = [&](std::string_view line) { err << line << std::endl; };
  for (const Figure& figure : selected) {
    const Result result = measure(figure, tell, pairs);
    out << (request.json ? json_of(figure, result).dump() : text_of(figure, result)) << std::endl;
  }
}

void run_bench(const BenchRequest& request, std::ostream& out, std::ostream& err) {
  Runner runner;
  const BenchPlaces places = places_of(request, err);
  const Measurements measurements(places, runner);
  std::vector<Figure> figures = make_figures(measurements);
  const HostMeasurements hosts(places, runner);
  for (Figure& figure : make_deep_figures(measurements, hosts))
    figures.push_back(std::move(figure));
  for (Figure& figure : make_click_figures(measurements)) figures.push_back(std::move(figure));
  for (Figure& figure : make_click_ps_figures(measurements, hosts))
    figures.push_back(std::move(figure));
  const ReviewMeasurements reviews(places, runner);
  for (Figure& figure : make_prepare_figures(reviews)) figures.push_back(std::move(figure));
  run_bench(figures, request, out, err);
}

}  // namespace paceline
