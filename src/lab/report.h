// A measured figure as people and programs read it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "lab/figure.h"
#include "lab/measure.h"

namespace paceline {

std::string number_text(double value);  // four digits: "8.312", "41,230"

// "softmax.batch10 8.31 × ≥7 ok (8.12–8.5; paceline 4.35, libtorch 36.2 µs/step)": name,
// value, unit, target and verdict divided by spaces, "-" for a value that is missing; then
// the quartiles and the medians of both measurements, or the reason.
std::string text_of(const Figure& figure, const Result& result);

// The same as an object; "value" is null when there is none.
nlohmann::json json_of(const Figure& figure, const Result& result);

}  // namespace paceline
