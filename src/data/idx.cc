#include "data/idx.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "data/gzip.h"
#include "data/in_memory.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kImages = 0x00000803;  // unsigned bytes in three dimensions
constexpr std::uint32_t kLabels = 0x00000801;  // unsigned bytes in one

std::uint32_t read_number(GzipReader& file) {
  std::array<std::byte, 4> bytes{};
  const std::size_t got = file.read(bytes);
  if (got < bytes.size()) {
    throw DataError("{}: the file ends inside its header: it is not an IDX file or was cut off",
                    file.path().string());
  }
  std::uint32_t value = 0;
  for (const std::byte byte : bytes) value = value << 8 | std::to_integer<std::uint32_t>(byte);
  return value;
}

void expect_magic(GzipReader& file, std::uint32_t expected, std::string_view what) {
  const std::uint32_t found = read_number(file);
  if (found == expected) return;
  const bool swapped = found == kImages || found == kLabels;
  throw DataError("{}: not an IDX file of {}: expected the magic number {:#010x}, found {:#010x}{}",
                  file.path().string(), what, expected, found,
                  swapped ? "; are images and labels swapped?" : "");
}

struct Shape {
  std::uint64_t count = 0;
  std::size_t width = 0;  // bytes of one
  ImageShape image{};
};

// The file still has to hold `count` times `width` bytes. Both come from 32-bit numbers
// of the header, so nothing overflows before this has refused it.
void expect_room(const GzipReader& file, Shape shape, std::uint64_t header) {
  if (shape.count == 0 || shape.width == 0) {
    throw DataError("{}: the header promises {} examples of {} bytes: there is nothing to read",
                    file.path().string(), format_count(shape.count), format_count(shape.width));
  }
  const std::uint64_t most = file.most_bytes() - std::min(file.most_bytes(), header);
  if (shape.count > most / shape.width) {
    throw DataError(
        "{}: the header promises {} examples of {} bytes, but the file holds no more than {} "
        "bytes after it: it was cut off or is corrupt",
        file.path().string(), format_count(shape.count), format_count(shape.width),
        format_count(most));
  }
}

Shape read_image_header(GzipReader& file) {
  expect_magic(file, kImages, "images");
  const std::uint64_t count = read_number(file);
  const std::uint64_t rows = read_number(file);
  const std::uint64_t columns = read_number(file);
  const Shape shape{count,
                    rows * columns,
                    {static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(columns), 1}};
  expect_room(file, shape, 16);
  return shape;
}

Shape read_label_header(GzipReader& file) {
  expect_magic(file, kLabels, "labels");
  const Shape shape{read_number(file), 1};
  expect_room(file, shape, 8);
  return shape;
}

// Reads the `total` bytes after the header, of which `kept` are returned, and checks that
// nothing follows.
Buffer read_body(GzipReader& file, std::uint64_t total, std::uint64_t kept) {
  Buffer body(kept);
  std::uint64_t got = file.read(body.bytes());
  Buffer rest(std::size_t{1} << 16);
  while (got >= kept && got <= total) {
    const std::size_t more = file.read(rest.bytes());
    if (more == 0) break;
    got += more;
  }
  if (got == total) return body;
  throw DataError("{}: expected {} bytes after the header, found {}{}", file.path().string(),
                  format_count(total), got > total ? "more" : format_count(got),
                  got > total ? ": it has trailing bytes" : ": it was cut off");
}

std::vector<std::int32_t> check_labels(const Buffer& bytes, const fs::path& path,
                                       std::int32_t classes) {
  std::vector<std::int32_t> labels;
  labels.reserve(bytes.size());
  for (const std::byte byte : bytes.bytes()) {
    const auto label = std::to_integer<std::int32_t>(byte);
    if (label >= classes) {
      throw DataError("{}: the label of example {} is {}, expected less than {} (the classes)",
                      path.string(), format_count(labels.size()), label, classes);
    }
    labels.push_back(label);
  }
  return labels;
}

std::uint64_t kept_examples(std::uint64_t count, const IdxOptions& options) {
  return options.limit == 0 ? count : std::min(count, options.limit);
}

}  // namespace

std::unique_ptr<Dataset> open_idx(const fs::path& images, const fs::path& labels,
                                  const std::string& name, const IdxOptions& options) {
  GzipReader image_file(images);
  GzipReader label_file(labels);
  const Shape shape = read_image_header(image_file);
  const Shape label_shape = read_label_header(label_file);
  if (shape.count != label_shape.count) {
    throw DataError("{} holds {} images but {} holds {} labels: they are not of the same set",
                    images.string(), format_count(shape.count), labels.string(),
                    format_count(label_shape.count));
  }
  const std::uint64_t kept = kept_examples(shape.count, options);
  Buffer rows = read_body(image_file, shape.count * shape.width, kept * shape.width);
  const Buffer label_bytes = read_body(label_file, shape.count, kept);
  return std::make_unique<InMemoryDataset>(name, shape.width, options.classes, std::move(rows),
                                           check_labels(label_bytes, labels, options.classes),
                                           shape.image);
}

std::unique_ptr<Dataset> open_idx_images(const fs::path& images, const IdxOptions& options) {
  GzipReader file(images);
  const Shape shape = read_image_header(file);
  const std::uint64_t kept = kept_examples(shape.count, options);
  Buffer rows = read_body(file, shape.count * shape.width, kept * shape.width);
  return std::make_unique<InMemoryDataset>(images.string(), shape.width, options.classes,
                                           std::move(rows), std::vector<std::int32_t>(kept),
                                           shape.image);
}

DatasetInfo estimate_idx(const fs::path& images, const std::string& name,
                         const IdxOptions& options) {
  GzipReader file(images);
  const Shape shape = read_image_header(file);
  return in_memory_info(name, kept_examples(shape.count, options), shape.width, options.classes,
                        shape.image);
}

fs::path find_idx(const fs::path& folder, std::string_view name) {
  const fs::path plain = folder / name;
  const fs::path compressed = folder / (std::string(name) + ".gz");
  if (fs::exists(plain)) return plain;
  if (fs::exists(compressed)) return compressed;
  throw DataError("neither {} nor {}.gz is in {}", name, name, folder.string());
}

}  // namespace paceline
