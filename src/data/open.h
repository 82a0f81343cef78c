// From the name of a dataset to its examples.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "data/dataset.h"
#include "data/image_folder.h"
#include "data/sparse/read_rows.h"
#include "data/synthetic.h"
#include "data/text.h"

namespace paceline {

struct RowOptions {
  RowFormatOptions format;
  std::uint64_t most_bad = 100;     // lines that may be left out
  std::filesystem::path cache_dir;  // empty: in the folder of fetched sets
};

struct DataOptions {
  std::string name = "mnist";  // see dataset_names()
  // Where fetched sets are, each in a folder of its name; for "idx", the folder with the
  // user's own four files, named as MNIST's are, plain or .gz.
  std::filesystem::path dir;
  std::uint64_t limit = 0;     // train on only so many examples; 0: all
  std::int32_t classes = 10;   // of "idx", whose files do not say
  SyntheticOptions synthetic;  // of "synthetic"
  TextOptions text;            // of "reviews", "sentences" and "imdb"; its files are those of
                               // "images", too, where they are folders
  ImageOptions images;         // of "images"
  RowOptions rows;             // of "rows", whose files are those of `text`
};

std::vector<std::string> dataset_names();

// Whether its examples are texts, and which.
bool is_text(const DataOptions& options);
TextKind text_kind(const DataOptions& options);

// The words by number that a run on texts learns with; needed to use what it has learned.
void write_vocabularies(const DataOptions& options, const std::filesystem::path& folder);

// Of "rows": no file has been named yet, so that nothing is known but the size of the table.
bool lacks_rows(const DataOptions& options);

// Of "rows": what is read of the text once is kept, and opened from then on.
std::shared_ptr<const RowCache> open_rows(const DataOptions& options, Split split,
                                          const RowNews& news = {});

// The names of the classes of "images", a line each, for whoever uses what the run has learned.
inline constexpr const char* kClassNames = "classes.txt";
void write_classes(const DataOptions& options, const std::filesystem::path& folder);

// Reads the whole split into memory, except "images" and prepared reviews. Throws DataError when a
// file is not there or not as it should be, ConfigError for a name that means nothing. `words` is a
// folder with the vocabularies to test texts with; none: those of the training part.
std::unique_ptr<Dataset> open_dataset(const DataOptions& options, Split split,
                                      const std::filesystem::path& words = {});

// The info that the opened dataset would have, from the headers of its files.
DatasetInfo estimate_dataset(const DataOptions& options, Split split);

}  // namespace paceline
