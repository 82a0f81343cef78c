// CIFAR-10 in the binary format of its authors: records of a label and the red, the green
// and the blue values of 32 × 32 pixels, one behind the other.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "data/dataset.h"
#include "data/png.h"

namespace paceline {

inline constexpr ImageShape kCifarImage = {32, 32, 3};
inline constexpr std::size_t kCifarRecord = 1 + 32 * 32 * 3;
inline constexpr std::int32_t kCifarClasses = 10;

// Reads one split from `folder` into memory: all of it, or the first `limit` examples. Throws
// DataError naming the file that is missing, cut off, or has a label that means nothing.
std::unique_ptr<Dataset> open_cifar(const std::filesystem::path& folder, Split split,
                                    std::uint64_t limit, const std::string& name);

// What opening would give, from the sizes of the files.
DatasetInfo estimate_cifar(const std::filesystem::path& folder, Split split, std::uint64_t limit,
                           const std::string& name);

// Records from a sheet that has one image per row of pixels. Throws DataError when it has
// another form, or not as many images as there are labels.
std::string cifar_records(const Pixels& sheet, std::span<const std::uint8_t> labels);

}  // namespace paceline
