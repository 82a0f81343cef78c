// From the name of a dataset to its examples.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "data/catalogue/options.h"
#include "data/catalogue/registry.h"
#include "data/dataset.h"
#include "data/sparse/read_rows.h"

namespace paceline {

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
std::vector<std::string> read_classes(const std::filesystem::path& folder);  // throws DataError

// Reads the whole split into memory, except "images" and prepared reviews. Throws DataError when a
// file is not there or not as it should be, ConfigError for a name that means nothing. `words` is a
// folder with the vocabularies to test texts with; none: those of the training part.
std::unique_ptr<Dataset> open_dataset(const DataOptions& options, Split split,
                                      const std::filesystem::path& words = {});

// The info that the opened dataset would have, from the headers of its files.
DatasetInfo estimate_dataset(const DataOptions& options, Split split);

// What a model that was trained on such data may be asked to label: images, or lines of text, by
// the vocabularies in `run_dir`. Sparse rows are read line by line (infer/predict.h).
std::unique_ptr<Dataset> open_input(const DataOptions& options, const std::filesystem::path& input,
                                    const std::filesystem::path& run_dir);

}  // namespace paceline
