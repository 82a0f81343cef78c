// Images in a folder, a sub-folder per class.
//
// The classes are the sub-folders in alphabetical order. The examples are in an order that
// depends on their names alone and mixes the classes, so that the first ones are a fair
// sample. Without a folder of its own the test part is chosen by a hash of the name.
//
// An image is decoded when a batch needs it, by the thread that reads the batch; nothing is
// kept. One that cannot be decoded becomes black and weighs nothing.
//
// Decoding is the plugin's that needs OpenCV; see images/.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace paceline {

struct ImageOptions {
  std::uint32_t size = 224;  // images are resized to so many pixels squared
  bool augment = false;      // training images are cropped and mirrored at random
  std::uint64_t seed = 0;    // of which, with the epoch and the example, this is a function
};

struct ImageFolders {
  std::filesystem::path folder;
  std::filesystem::path test_folder;  // empty: a part of `folder` is the test part
  double test_share = 0.05;
};

// Fills `out` with [side, side, 3] bytes, red first. False when the file cannot be decoded.
// Called from many threads at once.
using ImageDecoder = std::function<bool(const std::filesystem::path& file, std::uint32_t side,
                                        std::span<std::uint8_t> out)>;
void register_image_decoder(ImageDecoder decoder);

// Throws DataError when a folder is missing, a class has no images or is in one of the two
// folders only; ConfigError when there is no decoder.
std::unique_ptr<Dataset> open_image_folder(const ImageFolders& folders, const ImageOptions& options,
                                           Split split, std::uint64_t limit,
                                           const std::string& name);

// Throws DataError when so many files of the data cannot be decoded: more than one in a hundred.
// A dataset does so when it finds one file too many; processes that share the data each find
// some of them.
void expect_few_unreadable(const std::set<std::string>& files, const DatasetInfo& data);

// What opening would give: lists the files, but reads none.
DatasetInfo estimate_image_folder(const ImageFolders& folders, const ImageOptions& options,
                                  Split split, std::uint64_t limit, const std::string& name);

// One image, or all of a folder in alphabetical order, for prediction: every label is 0, and
// an image that cannot be decoded is a DataError.
std::unique_ptr<Dataset> open_image_files(const std::filesystem::path& path,
                                          const ImageOptions& options);

// The names of the classes.
std::vector<std::string> image_classes(const std::filesystem::path& folder);

}  // namespace paceline
