// The figures of `paceline bench`.
#pragma once

#include <vector>

#include "lab/figure.h"
#include "lab/sides.h"

namespace paceline {

std::vector<Figure> make_figures(const Sides& sides);

}  // namespace paceline
