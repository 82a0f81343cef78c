// What the rows of a cache were made of, as the text that the cache keeps: how the text was read in
// the first line, then a line for each file, with its size and time of change.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/sparse/row_parser.h"

namespace paceline {

// Throws DataError when a file cannot be looked at.
std::string origin_of(const std::vector<std::filesystem::path>& files,
                      const RowFormatOptions& format, double test_share);

enum class OriginState { kSame, kChanged, kGone };

struct RowOrigin {
  std::string settings;  // "libsvm classes bits 26 test 0.1"
  std::vector<std::filesystem::path> files;
  OriginState state = OriginState::kSame;  // of the files now
};

// Of a text that origin_of() gave.
RowOrigin parse_origin(std::string_view text);

}  // namespace paceline
