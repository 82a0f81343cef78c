// Sparse rows: made-up clicks, learned by Paceline, by a bare loop and by others.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "lab/figures.h"

namespace paceline {
namespace {

double rows_per_second(const nlohmann::json& summary) {
  return number_in(summary, "examples_per_second", "paceline");
}

double process_seconds(const nlohmann::json& summary) {
  return number_in(summary, "process_seconds", "paceline");
}

double loss_against_hidden(const nlohmann::json& summary) {
  return number_in(summary, "test_loss", "paceline") /
         number_in(summary, "hidden_test_loss", "the generator");
}

// What takes a peer minutes is measured once.
Measure once(const Measure& measure) {
  const auto kept = std::make_shared<std::optional<Sample>>();
  return [measure, kept] {
    if (!*kept) *kept = measure();
    return **kept;
  };
}

// Another field of what it reports.
Measure field_of(const Measure& measure, const char* field, const char* who) {
  return [measure, field, who] {
    Sample sample = measure();
    sample.value = number_in(sample.report, field, who);
    return sample;
  };
}

// As good as the peer at its best, to 0.5 %.
void as_good(const Sample& ours, const Sample& peer) {
  const double a = number_in(ours.report, "test_loss", "paceline");
  const double b = number_in(peer.report, "test_loss", "the peer");
  if (a > 1.005 * b) {
    throw Error(fmt::format("the test loss is {:.4f}, and the peer's {:.4f}", a, b));
  }
}

// As the bare loop learns.
Measurements::ClickRun pass(const char* workers, bool one_core) {
  return {{"--epochs", "1", "--workers", workers, "--optimizer", "adagrad", "--rate", "0.1"},
          one_core,
          false};
}

// As well as we can.
Measurements::ClickRun passes(const char* count, bool fresh) {
  return {{"--epochs", count, "--workers", "2"}, false, fresh};
}

Figure cache(const Measurements& measurements) {
  return {.name = "clicks.cache",
          .what = "a pass over rows from the cache, one core, against a bare loop in memory",
          .comparison = Comparison::kAtLeast,
          .target = 0.75,
          .unit = "×",
          .relation = Relation::kOursByPeer,
          .side_unit = "rows/s",
          .ours = {"paceline", measurements.clicks(pass("1", true), rows_per_second)},
          .peer = {"bare",
                   measurements.program({"clicks_bench", {"bare"}, "rows_per_second", 1, true})},
          .pairs = 5};
}

Figure cores(const Measurements& measurements) {
  return {.name = "clicks.cores",
          .what = "a pass over rows from the cache, two cores against one",
          .comparison = Comparison::kAtLeast,
          .target = 1.6,
          .unit = "×",
          .relation = Relation::kOursByPeer,
          .side_unit = "rows/s",
          .ours = {"two", measurements.clicks(pass("2", false), rows_per_second)},
          .peer = {"one", measurements.clicks(pass("1", true), rows_per_second)},
          .pairs = 5};
}

Figure vs_sgd(const Measurements& measurements, const Measure& sgd) {
  return {.name = "clicks.vs_sgd",
          .what = "a pass over rows from the cache, one core, against SGDClassifier in memory",
          .comparison = Comparison::kAtLeast,
          .target = 1.7,
          .unit = "×",
          .relation = Relation::kOursByPeer,
          .side_unit = "rows/s",
          .ours = {"paceline", measurements.clicks(pass("1", true), rows_per_second)},
          .peer = {"sklearn", sgd},
          .pairs = 3};
}

Figure from_text(const Measurements& measurements, const std::string& name, const std::string& what,
                 const Side& peer) {
  return {.name = "clicks." + name,
          .what = "from text to as good a model, all cores, against " + what,
          .comparison = Comparison::kAtLeast,
          .target = 5,
          .unit = "×",
          .relation = Relation::kPeerByOurs,
          .side_unit = "s",
          .ours = {"paceline", measurements.clicks(passes("2", true), process_seconds)},
          .peer = peer,
          .agree = as_good,
          .pairs = 3};
}

Figure quality(const Measurements& measurements) {
  return {.name = "clicks.quality",
          .what = "test loss after at most 3 passes, against the model that made the labels",
          .comparison = Comparison::kAtMost,
          .target = 1.06,
          .unit = "×",
          .relation = Relation::kOursAlone,
          .side_unit = "×",
          .ours = {"paceline", measurements.clicks(passes("3", false), loss_against_hidden)},
          .pairs = 3};
}

}  // namespace

std::vector<Figure> make_click_figures(const Measurements& measurements) {
  const Measure sgd =
      once(measurements.on_clicks({"sgd_clicks.py", {}, "rows_per_second", 1, true}));
  const Measure liblinear =
      once(measurements.on_clicks({"liblinear_clicks.py", {}, "seconds", 1, true}));
  return {cache(measurements),
          cores(measurements),
          vs_sgd(measurements, sgd),
          from_text(measurements, "vs_sgd_text", "SGDClassifier",
                    {"sklearn", field_of(sgd, "seconds", "sgd_clicks.py")}),
          from_text(measurements, "vs_liblinear", "LIBLINEAR", {"liblinear", liblinear}),
          quality(measurements)};
}

}  // namespace paceline
