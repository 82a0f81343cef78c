// Checks a block of rows once, so that its readers need no checks. row.h has the layout of a row.
#pragma once

#include <cstdint>
#include <span>

#include "data/sparse/row.h"

namespace paceline {

// The largest key of each kind that rows may have.
struct KeyBounds {
  Key feature;  // the constant, which is behind all others
  Key hot;      // none that is hot: the largest that is not
};

// Whether each row that begins at one of these places lies within the block, and each of its keys
// within the bounds.
bool holds_rows(std::span<const std::uint32_t> block, std::span<const std::uint32_t> places,
                const KeyBounds& bounds);

}  // namespace paceline
