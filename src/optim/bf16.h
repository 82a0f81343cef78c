// Floats of 16 bits: a float's sign, exponent and first seven bits of its fraction. Half the
// bytes on a wire, the same range, and three significant digits.
#pragma once

#include <cstdint>
#include <span>

namespace paceline {

using Bf16 = std::uint16_t;

// Rounded to the nearest, ties to even; NaN stays NaN. Spans of one length.
void to_bf16(std::span<const float> from, std::span<Bf16> to);
void from_bf16(std::span<const Bf16> from, std::span<float> to);

// to[i] = a[i] + b[i], rounded; `to` may be one of them.
void add_bf16(std::span<Bf16> to, std::span<const Bf16> a, std::span<const Bf16> b);

}  // namespace paceline
