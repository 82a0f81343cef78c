// Datasets in the IDX format of MNIST: a file of images and a file of labels, each plain
// or compressed by gzip.
//
// A file is a magic number, one big-endian size per dimension, and the bytes. Whatever
// is wrong with a file is a DataError that names it, what was expected and what is there;
// sizes are checked against the file before memory is allocated for them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "data/dataset.h"

namespace paceline {

struct IdxOptions {
  std::int32_t classes = 10;  // labels are below this
  std::uint64_t limit = 0;    // keep only the first examples; 0: all
};

// Reads everything into memory; the two files are checked to their last byte even when
// `limit` keeps less of them.
std::unique_ptr<Dataset> open_idx(const std::filesystem::path& images,
                                  const std::filesystem::path& labels, const std::string& name,
                                  const IdxOptions& options = {});

// Images alone, for prediction: every label is 0.
std::unique_ptr<Dataset> open_idx_images(const std::filesystem::path& images,
                                         const IdxOptions& options = {});

// The info of what open_idx would return, from the header of the images alone.
DatasetInfo estimate_idx(const std::filesystem::path& images, const std::string& name,
                         const IdxOptions& options = {});

// `name` or `name`.gz in `folder`, whichever is there.
std::filesystem::path find_idx(const std::filesystem::path& folder, std::string_view name);

}  // namespace paceline
