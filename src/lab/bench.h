// `paceline bench`: measures the figures of lab/figures.h and says which reach their
// targets.
#pragma once

#include <filesystem>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "lab/figure.h"
#include "lab/measure.h"

namespace paceline {

struct BenchRequest {
  std::vector<std::string> names{};  // of figures or groups of figures; empty: all
  bool json = false;
  bool list = false;                 // names and what they mean; nothing is measured
  std::filesystem::path data_dir{};  // where datasets are kept; MNIST is fetched if need be
};

// One line per figure to `out` as soon as it is there, what happens meanwhile to `err`.
// Figures short of their target are no failure. Throws ConfigError for an unknown name,
// Interrupted on Ctrl-C.
void run_bench(const BenchRequest& request, std::ostream& out, std::ostream& err);

// The same for figures from elsewhere.
void run_bench(std::span<const Figure> figures, const BenchRequest& request, std::ostream& out,
               std::ostream& err, int pairs = 1000);

// A warning when so many processes are running that figures mean little, or nothing.
std::string load_warning(double load, unsigned cores);

}  // namespace paceline
