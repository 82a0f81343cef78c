// What to learn from, as plain data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "data/image_folder.h"
#include "data/sparse/row_parser.h"
#include "data/synthetic.h"
#include "data/text.h"

namespace paceline {

struct RowOptions {
  RowFormatOptions format;
  std::uint64_t most_bad = 100;     // lines that may be left out
  std::filesystem::path cache_dir;  // empty: in the folder of fetched sets
};

struct DataOptions {
  std::string name = "mnist";  // see registry.h
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

}  // namespace paceline
