#include "data/prepared_split.h"

#include "base/error.h"
#include "base/units.h"
#include "data/prepared.h"
#include "data/text_source.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

void check_words(const PreparedReviews& file, const fs::path& path, const TextOptions& options) {
  if (file.numbers() > options.vocabulary) {
    throw DataError("{} has {} numbers for words: set --vocabulary to no less", path.string(),
                    format_count(file.numbers()));
  }
  if (path != options.file &&
      (!PreparedReviews::is_one(options.file) ||
       PreparedReviews(options.file).vocabulary().words() != file.vocabulary().words())) {
    throw DataError("{} and {} number different words: prepare both together",
                    options.file.string(), path.string());
  }
}

// By a hash of all its tokens, so that equal reviews are on the same side.
void choose_by_hash(const PreparedIds& ids, std::uint32_t numbers, double test_share, Split split,
                    RowChoice& choice) {
  const RowRules whole{numbers, ids.table().length, TextCut::kEnd};
  choice.keep([&](std::uint64_t block, std::span<std::uint64_t> bits) {
    const PreparedBlock rows = read_block(ids, block, whole, {});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto tokens = rows.row(i).subspan(1);
      const std::string_view key(reinterpret_cast<const char*>(tokens.data()), tokens.size_bytes());
      if (is_for_test(key, test_share) != (split == Split::kTest)) continue;
      bits[i / 64] |= std::uint64_t{1} << (i % 64);
    }
  });
}

}  // namespace

PreparedSplit open_split(const TextOptions& options, Split split, std::uint64_t limit,
                         WithLabels with_labels) {
  const fs::path& path = file_of(options, split);
  const PreparedReviews file(path);
  check_words(file, path, options);
  const bool has_tests = file.examples(PreparedPart::kTest) > 0;
  const PreparedPart part =
      split == Split::kTest && has_tests ? PreparedPart::kTest : PreparedPart::kTrain;
  auto ids = file.ids(part);
  RowChoice choice(ids->table());
  if (!has_tests && options.test_file.empty()) {
    choose_by_hash(*ids, file.numbers(), options.test_share, split, choice);
  }
  if (split == Split::kTrain && limit > 0 && limit < choice.examples()) choice.sample(limit);
  return {std::move(ids),
          {file.numbers(), options.length, options.cut},
          std::move(choice),
          with_labels == WithLabels::kYes ? file.labels(part) : std::vector<bool>()};
}

}  // namespace paceline
