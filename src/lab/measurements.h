// The measurements of the figures of `paceline bench`: ways to measure something once.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "lab/figure.h"
#include "lab/runner.h"

namespace paceline {

struct BenchPlaces {
  std::filesystem::path paceline;                // the binary
  std::filesystem::path programs;                // the folder of the programs of bench/
  std::function<std::filesystem::path()> mnist;  // the folder of MNIST's four files
  std::filesystem::path clicks;                  // the folder of made-up clicks, yet to be made
  std::filesystem::path reviews{};               // the same of made-up reviews
  std::string mpirun = "mpirun";                 // found by PATH
};

// How a program of bench/ is run and read.
struct Probe {
  std::string program;
  std::vector<std::string> arguments;
  std::string field;  // of what it reports
  double scale = 1;   // turns the field into the unit of the side
  bool one_core = false;
};

// What it returns holds a copy of the places; `runner` must outlive it.
class Measurements {
 public:
  Measurements(BenchPlaces places, Runner& runner) : places_(std::move(places)), runner_(runner) {}

  Measure program(const Probe& probe) const;
  // With the folder of MNIST as the first argument.
  Measure on_mnist(const Probe& probe) const;
  // One run of that for both measurements of a figure; the probe's own field is not used.
  std::pair<Measure, Measure> both_on_mnist(const Probe& probe, const std::string& ours,
                                            const std::string& peer) const;
  // `paceline` with these words; `value` reads the last object it prints. With `twin`, the same
  // runs beside it.
  Measure paceline(std::vector<std::string> words, double (*value)(const nlohmann::json&),
                   bool twin = false) const;
  // On the folder of made-up clicks, as the last argument.
  Measure on_clicks(const Probe& probe) const;
  // `paceline train clicks` on them with these words; `value` reads its summary.json, in which
  // "process_seconds" is added: how long all of it took. `fresh`: from the text, else from rows
  // that were read before.
  struct ClickRun {
    std::vector<std::string> words;
    bool one_core = false;
    bool fresh = false;
  };
  Measure clicks(const ClickRun& run, double (*value)(const nlohmann::json&)) const;
  // The words of `paceline train` that name these rows, read before.
  std::vector<std::string> click_words() const;
  // A run of 10 epochs with two workers and one server; `value` reads its summary.json.
  Measure training(const std::string& mode, double (*value)(const nlohmann::json&)) const;

 private:
  std::filesystem::path made_up_clicks() const;  // makes them when they are not there

  BenchPlaces places_;
  Runner& runner_;
};

// The one with the larger value, of the two measured one after the other.
Measure larger_of(const Measure& one, const Measure& other);

// A field of what `who` has reported. Throws Error when it is no number, or no text.
double number_in(const nlohmann::json& report, const std::string& field, const std::string& who);
std::string text_in(const nlohmann::json& report, const std::string& field, const std::string& who);

}  // namespace paceline
