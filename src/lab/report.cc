#include "lab/report.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/units.h"

namespace paceline {
namespace {

const char* verdict(const Figure& figure, const Result& result) {
  if (!figure.impossible.empty()) return "skipped";
  return is_ok(figure, result) ? "ok" : "short";
}

bool has_peer(const Figure& figure) {
  return figure.relation != Relation::kOursAlone;
}

// What stands behind the verdict.
std::string grounds(const Figure& figure, const Result& result) {
  if (!result.measured()) return result.reason;
  std::string text =
      fmt::format("{}–{}", number_text(result.value.low), number_text(result.value.high));
  if (!has_peer(figure)) return text;
  return text + fmt::format("; {} {}, {} {} {}", figure.ours.name, number_text(result.ours.median),
                            figure.peer.name, number_text(result.peer.median), figure.side_unit);
}

nlohmann::json side_json(const Side& side, const Spread& spread, const std::string& unit) {
  return {{"name", side.name},
          {"median", spread.median},
          {"low", spread.low},
          {"high", spread.high},
          {"unit", unit}};
}

}  // namespace

std::string number_text(double value) {
  if (value >= 9999.5) return format_count(static_cast<std::uint64_t>(std::llround(value)));
  return fmt::format("{:.4g}", value);
}

std::string text_of(const Figure& figure, const Result& result) {
  return fmt::format("{} {} {} {} {} ({})", figure.name,
                     result.measured() ? number_text(result.value.median) : "-", figure.unit,
                     target_text(figure), verdict(figure, result), grounds(figure, result));
}

nlohmann::json json_of(const Figure& figure, const Result& result) {
  nlohmann::json object = {
      {"name", figure.name},
      {"value", nullptr},
      {"unit", figure.unit},
      {"target", figure.target},
      {"comparison", figure.comparison == Comparison::kAtLeast ? "at_least" : "at_most"},
      {"verdict", verdict(figure, result)}};
  if (!result.measured()) {
    object["reason"] = result.reason;
    return object;
  }
  object["value"] = result.value.median;
  object["low"] = result.value.low;
  object["high"] = result.value.high;
  object["ours"] = side_json(figure.ours, result.ours, figure.side_unit);
  if (has_peer(figure)) object["peer"] = side_json(figure.peer, result.peer, figure.side_unit);
  return object;
}

}  // namespace paceline
