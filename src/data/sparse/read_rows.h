// Text in, rows in a cache out: the first thing that happens to sparse data.
//
// Pieces of the text are parsed by several threads and written in their order, so the cache has
// the same bytes whatever their number. A cache is made again when the text, or how it is to be
// read, is not what it was made of.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "data/dataset.h"
#include "data/sparse/row_cache.h"
#include "data/sparse/row_parser.h"

namespace paceline {

struct RowSource {
  std::string files;      // a file, a folder or a pattern
  double test_share = 0;  // of the lines, chosen by a hash: they are kept apart
  RowFormatOptions format;
  std::uint64_t most_bad = 100;     // lines that cannot be parsed and are left out
  std::filesystem::path cache_dir;  // empty: beside the first file
  unsigned threads = 1;
};

// Where its rows are kept: those to train on (or all), those to test on.
// What the first line looks like. Throws DataError.
RowFormat format_of(const std::string& files);

std::filesystem::path cache_path(const RowSource& source, Split split);

// Who hears of what happens to the text: that it was read and how fast; a cache that could not be
// used, the first ten lines that were left out.
struct RowNews {
  std::function<void(const std::string& sentence)> notice = [](const std::string&) {};
  std::function<void(const std::string& sentence)> warning = [](const std::string&) {};
};

// Reads the text, if need be, and opens the cache. Throws DataError when a file cannot be read, no
// line is a row, or more than `most_bad` are not.
std::shared_ptr<const RowCache> open_rows(const RowSource& source, Split split,
                                          const RowNews& news = {});

}  // namespace paceline
