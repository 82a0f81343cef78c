// Where bytes come from, one after the other: puts at least one into `into` and returns how many;
// none only at the end. What fails throws.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace paceline {

using ByteSource = std::function<std::size_t(std::span<std::byte> into)>;

}  // namespace paceline
