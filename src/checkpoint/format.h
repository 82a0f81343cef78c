// The bytes of a checkpoint file (docs/checkpoint.md has the table), without the reading
// and writing of files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "checkpoint/checkpoint.h"
#include "checkpoint/sections.h"

namespace paceline::checkpoint_format {

inline constexpr std::array<char, 8> kMagic = {'P', 'A', 'C', 'E', 'C', 'K', 'P', 'T'};
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint64_t kAlignment = 64;
inline constexpr std::uint64_t kPreambleBytes = 16;  // magic, version, length of the header
inline constexpr std::uint64_t kChecksumBytes = CheckpointSections::kChecksumBytes;

// Limits that no real checkpoint comes near: a length beyond them is damage, and is found
// before memory is allocated for it. They also keep every product below 2^64.
inline constexpr std::uint64_t kMostHeaderBytes = std::uint64_t{1} << 26;
inline constexpr std::uint64_t kMostBlockFloats = std::uint64_t{1} << 24;
inline constexpr std::uint64_t kMostFloats = std::uint64_t{1} << 48;
inline constexpr std::uint64_t kMostSlots = 1024;

// Throws DataError: the file is damaged, `how`, and what can be done.
[[noreturn]] void fail_damaged(const std::filesystem::path& path, const std::string& how);

std::uint64_t checksum(std::span<const std::byte> bytes);

struct Head {
  CheckpointInfo info;
  CheckpointSections sections;
};

// Of a file with these contents and a head of `head_bytes`.
CheckpointSections sections(const CheckpointInfo& info, std::uint64_t head_bytes);

// The bytes before the data; their number is a multiple of kAlignment. `path` is for
// messages. Throws DataError when the texts are no UTF-8.
std::string encode_head(const std::filesystem::path& path, const CheckpointInfo& info);

// The number of bytes the head has, from its first kPreambleBytes.
std::uint64_t head_bytes(const std::filesystem::path& path, std::span<const std::byte> preamble);
// All of the head. Both throw DataError naming `path` when it is not a checkpoint, of
// another format or damaged.
Head decode_head(const std::filesystem::path& path, std::span<const std::byte> head);

}  // namespace paceline::checkpoint_format
