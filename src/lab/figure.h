// A figure: one number that says how well Paceline does something, against a peer that
// does the same or a bare limit, and what that number should be.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

enum class Comparison { kAtLeast, kAtMost };

// How what both measurements measured becomes the value of the figure.
enum class Relation { kOursByPeer, kPeerByOurs, kOursMinusPeer, kOursAlone };

struct Sample {
  double value = 0;       // in the figure's side_unit
  nlohmann::json report;  // all that the program said
};

// Measures once. Throws an Error that says why it cannot.
using Measure = std::function<Sample()>;

struct Side {
  std::string name;  // "paceline", "libtorch"
  Measure measure;
};

struct Figure {
  std::string name;                              // "softmax.batch10"
  std::string what;                              // one line for people
  Comparison comparison = Comparison::kAtLeast;  // of the value with the target
  double target = 0;
  std::string unit;  // "×", "%", "µs/step"
  Relation relation = Relation::kOursByPeer;
  std::string side_unit;  // of both measurements
  Side ours;
  Side peer{};  // of kOursAlone: nobody
  // Throws an Error when the two measurements did not do the same work; may be empty.
  std::function<void(const Sample& ours, const Sample& peer)> agree{};
  int pairs = 9;             // of measurements
  std::string impossible{};  // why this machine cannot measure it; empty: it can
};

// NaN reaches no target.
bool reaches(const Figure& figure, double value);

std::string target_text(const Figure& figure);  // "≥7"

// Those with one of the names, or in one of the groups ("mnist" for all "mnist.…"), in the
// order of `figures`; all when there are no names. Throws ConfigError for a name that
// selects nothing.
std::vector<Figure> select(std::span<const Figure> figures, std::span<const std::string> names);

}  // namespace paceline
