// Which factors of rate and decay hold where in the flat vector, and where it has tables.
#pragma once

#include <span>
#include <vector>

#include "base/range.h"
#include "model/model.h"
#include "optim/optimizer.h"

namespace paceline {

// Ranges in ascending order that cover the layout without gaps; neighbours differ.
// Tables are lazy. Tensors that no prefix matches have factors of 1. Throws ConfigError when a
// prefix matches no tensor or is given twice.
std::vector<GroupRange> resolve_groups(const Layout& layout,
                                       std::span<const ParameterGroup> groups);

}  // namespace paceline
