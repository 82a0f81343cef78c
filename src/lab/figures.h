// The figures of `paceline bench`.
#pragma once

#include <vector>

#include "lab/figure.h"
#include "lab/host_measurements.h"
#include "lab/measurements.h"
#include "lab/review_measurements.h"

namespace paceline {

inline constexpr double kGigabit = 1e9;

std::vector<Figure> make_figures(const Measurements& measurements);
std::vector<Figure> make_click_figures(const Measurements& measurements);
std::vector<Figure> make_click_ps_figures(const Measurements& measurements,
                                          const HostMeasurements& hosts);
std::vector<Figure> make_prepare_figures(const ReviewMeasurements& measurements);
std::vector<Figure> make_deep_figures(const Measurements& measurements,
                                      const HostMeasurements& hosts);

}  // namespace paceline
