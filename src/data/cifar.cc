#include "data/cifar.h"

#include <algorithm>
#include <fstream>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "data/in_memory.h"
#include "data/known_sets.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPlane = std::size_t{32} * 32;  // values of one colour

std::vector<fs::path> cifar_files(const fs::path& folder, Split split) {
  if (split == Split::kTest) return {folder / kCifarTest};
  std::vector<fs::path> files;
  files.reserve(kCifarTrain.size());
  for (const auto name : kCifarTrain) files.push_back(folder / name);
  return files;
}

std::uint64_t records_in(const fs::path& file) {
  std::error_code error;
  const std::uint64_t bytes = fs::file_size(file, error);
  if (error) throw DataError("cannot read {}: {}", file.string(), error.message());
  if (bytes % kCifarRecord != 0) {
    throw DataError("{} has {} bytes, which are no whole number of records of {}: it was cut off",
                    file.string(), format_count(bytes), format_count(kCifarRecord));
  }
  return bytes / kCifarRecord;
}

std::uint64_t kept_records(const fs::path& folder, Split split, std::uint64_t limit) {
  std::uint64_t count = 0;
  for (const fs::path& file : cifar_files(folder, split)) count += records_in(file);
  return limit == 0 || split == Split::kTest ? count : std::min(count, limit);
}

// From plane by plane to pixel by pixel.
void interleave(const std::uint8_t* planes, std::uint8_t* pixels) {
  for (std::size_t i = 0; i < kPlane; ++i) {
    for (std::size_t colour = 0; colour < 3; ++colour) {
      pixels[3 * i + colour] = planes[colour * kPlane + i];
    }
  }
}

}  // namespace

std::unique_ptr<Dataset> open_cifar(const fs::path& folder, Split split, std::uint64_t limit,
                                    const std::string& name) {
  const std::uint64_t count = kept_records(folder, split, limit);
  Buffer rows(count * kCifarImage.bytes());
  auto* out = reinterpret_cast<std::uint8_t*>(rows.data());
  std::vector<std::int32_t> labels;
  labels.reserve(count);
  std::vector<std::uint8_t> record(kCifarRecord);
  for (const fs::path& path : cifar_files(folder, split)) {
    std::ifstream file(path, std::ios::binary);
    for (std::uint64_t left = records_in(path); left > 0 && labels.size() < count; --left) {
      if (!file.read(reinterpret_cast<char*>(record.data()), kCifarRecord)) {
        throw DataError("cannot read {}", path.string());
      }
      if (record[0] >= kCifarClasses) {
        throw DataError("{}: a label is {}, expected less than {}", path.string(), record[0],
                        kCifarClasses);
      }
      labels.push_back(record[0]);
      interleave(record.data() + 1, out);
      out += kCifarImage.bytes();
    }
  }
  return std::make_unique<InMemoryDataset>(name, kCifarImage.bytes(), kCifarClasses,
                                           std::move(rows), std::move(labels), kCifarImage);
}

DatasetInfo estimate_cifar(const fs::path& folder, Split split, std::uint64_t limit,
                           const std::string& name) {
  return in_memory_info(name, kept_records(folder, split, limit), kCifarImage.bytes(),
                        kCifarClasses, kCifarImage);
}

std::string cifar_records(const Pixels& sheet, std::span<const std::uint8_t> labels) {
  if (sheet.width != kPlane || sheet.height != labels.size()) {
    throw DataError("a sheet of {} × {} pixels for {} labels: expected an image of {} per row",
                    sheet.width, sheet.height, labels.size(), kPlane);
  }
  std::string records;
  records.reserve(labels.size() * kCifarRecord);
  const std::uint8_t* pixels = sheet.rgb.data();
  for (const std::uint8_t label : labels) {
    records.push_back(static_cast<char>(label));
    for (std::size_t colour = 0; colour < 3; ++colour) {
      for (std::size_t i = 0; i < kPlane; ++i) {
        records.push_back(static_cast<char>(pixels[3 * i + colour]));
      }
    }
    pixels += 3 * kPlane;
  }
  return records;
}

}  // namespace paceline
