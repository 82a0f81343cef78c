// The datasets that `paceline data get` knows, and where they can be had.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "data/fetch.h"

namespace paceline {

// The files of a set, as MNIST named them and all later sets of its kind.
inline constexpr std::string_view kTrainImages = "train-images-idx3-ubyte";
inline constexpr std::string_view kTrainLabels = "train-labels-idx1-ubyte";
inline constexpr std::string_view kTestImages = "t10k-images-idx3-ubyte";
inline constexpr std::string_view kTestLabels = "t10k-labels-idx1-ubyte";

// Of the film reviews: LABEL <tab> TEXT, the label 0 (bad) or 1 (good).
inline constexpr std::string_view kImdbTrain = "train.tsv";
inline constexpr std::string_view kImdbTest = "test.tsv";

// Of CIFAR-10, as its authors' binary version has them: see cifar.h.
inline constexpr std::array<std::string_view, 5> kCifarTrain = {
    "data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
    "data_batch_5.bin"};
inline constexpr std::string_view kCifarTest = "test_batch.bin";

std::vector<std::string> known_set_names();
bool is_known_set(std::string_view name);

// Throws ConfigError with the names there are.
KnownSet known_set(std::string_view name);

}  // namespace paceline
