// Datasets by name: what an example is, where the examples come from, how they are opened.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/catalogue/options.h"
#include "data/dataset.h"

namespace paceline {

enum class Examples {
  kImages,      // bytes, all of them in memory
  kImageFiles,  // decoded when they are needed
  kTexts,       // with a label
  kSentences,   // with a translation
  kRows,        // sparse
};
enum class Origin {
  kFetched,    // `paceline data get`
  kMadeUp,     // from a seed
  kOwnFolder,  // --data-dir
  kOwnFiles,   // --data-file
};

struct DatasetKind {
  std::string_view name;
  Examples examples;
  Origin origin;
  std::string_view files;  // of the user's own: what they are, in words
  std::unique_ptr<Dataset> (*open)(const DataOptions&, Split, const std::filesystem::path& words);
  DatasetInfo (*estimate)(const DataOptions&, Split);
};

std::span<const DatasetKind> dataset_kinds();
std::vector<std::string> dataset_names();
// Throws ConfigError for a name that means nothing.
const DatasetKind& dataset_kind(std::string_view name);

bool is_text(const DataOptions& options);
TextKind text_kind(const DataOptions& options);
bool is_rows(const DataOptions& options);
bool is_image_folder(const DataOptions& options);

}  // namespace paceline
