// Reading at offsets, whole: a system call may give less than was asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace paceline {

// Fills `into` with what the open file has from `offset` on; returns how many bytes that are, fewer
// only when the file ends. Nothing: it cannot be read, and errno says why. Several threads may read
// one descriptor at once.
std::optional<std::size_t> read_at(int file, std::uint64_t offset, std::span<std::byte> into);

}  // namespace paceline
