#include "data/catalogue/registry.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace paceline {

std::vector<std::string> dataset_names() {
  std::vector<std::string> names;
  for (const DatasetKind& kind : dataset_kinds()) names.emplace_back(kind.name);
  return names;
}

const DatasetKind& dataset_kind(std::string_view name) {
  const auto kinds = dataset_kinds();
  const auto found = std::ranges::find(kinds, name, &DatasetKind::name);
  if (found != kinds.end()) return *found;
  const std::vector<std::string> names = dataset_names();
  throw ConfigError("'{}' is not a dataset ({}){}", name, join(names, ", "),
                    did_you_mean(name, names));
}

bool is_text(const DataOptions& options) {
  const Examples examples = dataset_kind(options.name).examples;
  return examples == Examples::kTexts || examples == Examples::kSentences;
}

TextKind text_kind(const DataOptions& options) {
  const bool sentences = dataset_kind(options.name).examples == Examples::kSentences;
  return sentences ? TextKind::kSentences : TextKind::kReviews;
}

bool is_rows(const DataOptions& options) {
  return dataset_kind(options.name).examples == Examples::kRows;
}

bool is_image_folder(const DataOptions& options) {
  return dataset_kind(options.name).examples == Examples::kImageFiles;
}

}  // namespace paceline
