#include "data/catalogue/open.h"

#include <algorithm>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/file/file.h"
#include "base/text.h"
#include "base/units.h"
#include "data/cifar.h"
#include "data/fetch.h"
#include "data/idx.h"
#include "data/in_memory.h"
#include "data/known_sets.h"
#include "data/sparse/rows_dataset.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

std::string full_name(const DataOptions& options, Split split) {
  return options.name + (split == Split::kTrain ? "/train" : "/test");
}

// The numbers of the test examples start where no training set reaches, so that they stay
// the same whatever its size.
Range synthetic_numbers(const DataOptions& options, Split split) {
  constexpr std::uint64_t kFirstTest = std::uint64_t{1} << 48;
  if (split == Split::kTest) return {kFirstTest, kFirstTest + options.synthetic.test_examples};
  const std::uint64_t all = options.synthetic.examples;
  return {0, options.limit == 0 ? all : std::min(all, options.limit)};
}

// The folder of a set that was fetched, or of the user's own files.
fs::path folder_of(const DataOptions& options) {
  if (dataset_kind(options.name).origin == Origin::kOwnFolder) return options.dir;
  const fs::path folder = options.dir / options.name;
  if (!is_complete(known_set(options.name), folder)) {
    throw DataError("{} is not in {}: run: paceline data get {}", options.name,
                    options.dir.string(), options.name);
  }
  return folder;
}

TextOptions text_files(const DataOptions& options) {
  TextOptions text = options.text;
  if (dataset_kind(options.name).origin == Origin::kFetched) {
    const fs::path folder = folder_of(options);
    text.file = folder / kImdbTrain;
    text.test_file = folder / kImdbTest;
  }
  return text;
}

ImageFolders image_folders(const DataOptions& options) {
  return {options.text.file, options.text.test_file, options.text.test_share};
}

// A pipe that nobody fills would be waited for without a word.
void expect_no_pipes(const DataOptions& options) {
  for (const fs::path& file : {options.text.file, options.text.test_file}) {
    std::error_code none;
    const fs::file_status status = fs::status(file, none);
    if (!fs::exists(status) || fs::is_regular_file(status) || fs::is_directory(status)) continue;
    throw DataError(
        "{} is not a regular file, and training data is read more than once: write it to a file "
        "first",
        file.string());
  }
}

struct Files {
  fs::path images;
  fs::path labels;
  IdxOptions options;
};

Files files_of(const DataOptions& options, Split split) {
  const fs::path folder = folder_of(options);
  const bool train = split == Split::kTrain;
  return {
      find_idx(folder, train ? kTrainImages : kTestImages),
      find_idx(folder, train ? kTrainLabels : kTestLabels),
      {.classes = dataset_kind(options.name).origin == Origin::kOwnFolder ? options.classes : 10,
       .limit = train ? options.limit : 0}};
}

// A model made for the training images reads as many bytes of every test image.
void expect_same_width(const DataOptions& options, const DatasetInfo& test) {
  const DatasetInfo train = estimate_dataset(options, Split::kTrain);
  if (train.width == test.width) return;
  throw DataError("{}: the training images have {} bytes each but the test images have {}",
                  options.dir.string(), format_count(train.width), format_count(test.width));
}

}  // namespace

bool lacks_rows(const DataOptions& options) {
  return is_rows(options) && options.text.file.empty();
}

std::shared_ptr<const RowCache> open_rows(const DataOptions& options, Split split,
                                          const RowNews& news) {
  expect_no_pipes(options);
  RowSource source;
  const bool shared = options.text.test_file.empty();
  source.files =
      (split == Split::kTest && !shared ? options.text.test_file : options.text.file).string();
  source.test_share = shared ? options.text.test_share : 0;
  source.format = options.rows.format;
  source.most_bad = options.rows.most_bad;
  source.cache_dir = options.rows.cache_dir.empty() ? options.dir / "rows" : options.rows.cache_dir;
  source.threads = std::thread::hardware_concurrency();
  const Split part = shared ? split : Split::kTrain;
  return open_rows(source, part, news);
}

void write_vocabularies(const DataOptions& options, const fs::path& folder) {
  const TextKind kind = text_kind(options);
  write_vocabularies(kind, vocabularies_of(kind, text_files(options), options.limit), folder);
}

void write_classes(const DataOptions& options, const fs::path& folder) {
  write_atomically(folder / kClassNames, join(image_classes(options.text.file), "\n") + "\n");
}

std::vector<std::string> read_classes(const fs::path& folder) {
  std::vector<std::string> names = split(read_text(folder / kClassNames), '\n');
  if (!names.empty() && names.back().empty()) names.pop_back();  // behind the last line's end
  if (names.empty() || std::ranges::any_of(names, &std::string::empty)) {
    throw DataError("{} is damaged: it does not have a name on each line",
                    (folder / kClassNames).string());
  }
  return names;
}

// ---- the kinds ---------------------------------------------------------------------------

namespace {

std::unique_ptr<Dataset> open_made_up(const DataOptions& options, Split split, const fs::path&) {
  return make_synthetic(options.synthetic, synthetic_numbers(options, split),
                        full_name(options, split));
}

DatasetInfo estimate_made_up(const DataOptions& options, Split split) {
  const auto& synthetic = options.synthetic;
  return in_memory_info(full_name(options, split), synthetic_numbers(options, split).size(),
                        width_of(synthetic), synthetic.classes, image_of(synthetic));
}

std::unique_ptr<Dataset> open_text_files(const DataOptions& options, Split split,
                                         const fs::path& words) {
  return open_texts(text_kind(options), text_files(options), split, options.limit,
                    full_name(options, split), words);
}

DatasetInfo estimate_text_files(const DataOptions& options, Split split) {
  return estimate_texts(text_kind(options), text_files(options), split, options.limit,
                        full_name(options, split));
}

std::unique_ptr<Dataset> open_folder(const DataOptions& options, Split split, const fs::path&) {
  return open_image_folder(image_folders(options), options.images, split, options.limit,
                           full_name(options, split));
}

DatasetInfo estimate_folder(const DataOptions& options, Split split) {
  return estimate_image_folder(image_folders(options), options.images, split, options.limit,
                               full_name(options, split));
}

std::unique_ptr<Dataset> open_row_files(const DataOptions& options, Split split, const fs::path&) {
  return make_rows_dataset(open_rows(options, split), split == Split::kTrain ? options.limit : 0,
                           full_name(options, split));
}

DatasetInfo estimate_row_files(const DataOptions& options, Split split) {
  return rows_info(*open_rows(options, split), split == Split::kTrain ? options.limit : 0,
                   full_name(options, split));
}

std::unique_ptr<Dataset> open_cifar_files(const DataOptions& options, Split split,
                                          const fs::path&) {
  return open_cifar(folder_of(options), split, options.limit, full_name(options, split));
}

DatasetInfo estimate_cifar_files(const DataOptions& options, Split split) {
  return estimate_cifar(folder_of(options), split, options.limit, full_name(options, split));
}

std::unique_ptr<Dataset> open_idx_files(const DataOptions& options, Split split, const fs::path&) {
  const Files files = files_of(options, split);
  auto dataset = open_idx(files.images, files.labels, full_name(options, split), files.options);
  if (split == Split::kTest) expect_same_width(options, dataset->info());
  return dataset;
}

DatasetInfo estimate_idx_files(const DataOptions& options, Split split) {
  const Files files = files_of(options, split);
  return estimate_idx(files.images, full_name(options, split), files.options);
}

constexpr DatasetKind kKinds[] = {
    {"mnist", Examples::kImages, Origin::kFetched, "", open_idx_files, estimate_idx_files},
    {"fashion-mnist", Examples::kImages, Origin::kFetched, "", open_idx_files, estimate_idx_files},
    {"cifar10", Examples::kImages, Origin::kFetched, "", open_cifar_files, estimate_cifar_files},
    {"imdb", Examples::kTexts, Origin::kFetched, "", open_text_files, estimate_text_files},
    {"synthetic", Examples::kImages, Origin::kMadeUp, "", open_made_up, estimate_made_up},
    {"idx", Examples::kImages, Origin::kOwnFolder, "the folder with the four IDX files",
     open_idx_files, estimate_idx_files},
    {"images", Examples::kImageFiles, Origin::kOwnFiles,
     "a folder with a folder of images per class", open_folder, estimate_folder},
    {"reviews", Examples::kTexts, Origin::kOwnFiles, "a file with LABEL<tab>TEXT lines",
     open_text_files, estimate_text_files},
    {"sentences", Examples::kSentences, Origin::kOwnFiles,
     "a file with SENTENCE<tab>TRANSLATION lines", open_text_files, estimate_text_files},
    {"rows", Examples::kRows, Origin::kOwnFiles, "text in LIBSVM's, Criteo's or VW's format",
     open_row_files, estimate_row_files},
};

}  // namespace

std::span<const DatasetKind> dataset_kinds() {
  return kKinds;
}

std::unique_ptr<Dataset> open_dataset(const DataOptions& options, Split split,
                                      const fs::path& words) {
  expect_no_pipes(options);
  return dataset_kind(options.name).open(options, split, words);
}

DatasetInfo estimate_dataset(const DataOptions& options, Split split) {
  expect_no_pipes(options);
  return dataset_kind(options.name).estimate(options, split);
}

std::unique_ptr<Dataset> open_input(const DataOptions& options, const fs::path& input,
                                    const fs::path& run_dir) {
  const DatasetKind& kind = dataset_kind(options.name);
  if (kind.examples == Examples::kImageFiles) return open_image_files(input, options.images);
  // Colour images come as image files: IDX files have one channel.
  if (kind.open == open_cifar_files) return open_image_files(input, {.size = kCifarImage.width});
  if (!is_text(options)) return open_idx_images(input);
  return number_lines(text_kind(options), options.text, input,
                      read_vocabularies(text_kind(options), run_dir));
}

}  // namespace paceline
