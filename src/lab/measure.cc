#include "lab/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "lab/report.h"

namespace paceline {
namespace {

struct Pairs {
  std::vector<double> values;
  std::vector<double> ours;
  std::vector<double> peer;
};

Sample measure_side(const Figure& figure, const Side& side) {
  Sample sample = side.measure();
  if (!std::isfinite(sample.value) || sample.value <= 0) {
    throw Error(fmt::format("{} measured {} {}", side.name, sample.value, figure.side_unit));
  }
  return sample;
}

double related(Relation relation, double ours, double peer) {
  switch (relation) {
    case Relation::kOursByPeer:
      return ours / peer;
    case Relation::kPeerByOurs:
      return peer / ours;
    case Relation::kOursMinusPeer:
      return ours - peer;
    case Relation::kOursAlone:
      break;
  }
  return ours;
}

void measure_pair(const Figure& figure, Pairs& pairs) {
  const Sample ours = measure_side(figure, figure.ours);
  pairs.ours.push_back(ours.value);
  if (figure.relation == Relation::kOursAlone) {
    pairs.values.push_back(ours.value);
    return;
  }
  const Sample peer = measure_side(figure, figure.peer);
  if (figure.agree) figure.agree(ours, peer);
  pairs.peer.push_back(peer.value);
  pairs.values.push_back(related(figure.relation, ours.value, peer.value));
}

std::string progress_line(const Figure& figure, const Pairs& pairs, int count) {
  std::string line = fmt::format("{} {}/{}: {} {}", figure.name, pairs.values.size(), count,
                                 number_text(pairs.values.back()), figure.unit);
  if (figure.relation == Relation::kOursAlone) return line;
  return line + fmt::format(" ({} {}, {} {} {})", figure.ours.name, number_text(pairs.ours.back()),
                            figure.peer.name, number_text(pairs.peer.back()), figure.side_unit);
}

}  // namespace

Result measure(const Figure& figure, const std::function<void(std::string_view)>& progress,
               int most) {
  const int count = std::min(most, figure.pairs);
  Pairs pairs;
  Result result;
  result.reason = figure.impossible;
  if (!result.measured()) return result;
  try {
    for (int pair = 0; pair < count; ++pair) {
      measure_pair(figure, pairs);
      progress(progress_line(figure, pairs, count));
    }
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    result.reason = error.what();
    progress(fmt::format("{}: {}", figure.name, result.reason));
    return result;
  }
  result.value = spread_of(pairs.values);
  result.ours = spread_of(pairs.ours);
  if (!pairs.peer.empty()) result.peer = spread_of(pairs.peer);
  return result;
}

bool is_ok(const Figure& figure, const Result& result) {
  if (!figure.impossible.empty()) return true;
  return result.measured() && reaches(figure, result.value.median);
}

}  // namespace paceline
