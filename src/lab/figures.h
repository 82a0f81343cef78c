// The figures of `paceline bench`.
#pragma once

#include <vector>

#include "lab/figure.h"
#include "lab/host_sides.h"
#include "lab/review_sides.h"
#include "lab/sides.h"

namespace paceline {

inline constexpr double kGigabit = 1e9;

std::vector<Figure> make_figures(const Sides& sides);
std::vector<Figure> make_click_figures(const Sides& sides);
std::vector<Figure> make_click_ps_figures(const Sides& sides, const HostSides& hosts);
std::vector<Figure> make_prepare_figures(const ReviewSides& sides);
std::vector<Figure> make_deep_figures(const Sides& sides, const HostSides& hosts);

}  // namespace paceline
