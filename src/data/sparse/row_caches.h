// The caches of rows in a folder: which there are, of what use they still are, and removing them.
//
// A file counts as one when it has the name and the beginning of one, so that nothing else is ever
// listed or removed. Whoever reads a cache that is removed keeps what he has: the system frees a
// file when nobody uses it any more.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/sparse/row_origin.h"

namespace paceline {

enum class RowCacheState {
  kUsable,    // a run on the same files and settings reads it
  kChanged,   // a file that it was made of is another now
  kGone,      // a file that it was made of is not there any more
  kUnusable,  // damaged, or written by another version or on another kind of machine
  kPartial,   // what a run that was killed has left of one
  kGrowing,   // somebody writes it just now
};

struct FoundRowCache {
  std::filesystem::path path;
  std::uint64_t bytes = 0;
  std::uint64_t rows = 0;
  RowOrigin origin;  // and this: empty when they cannot be read
  RowCacheState state = RowCacheState::kUsable;
};

const char* name_of(RowCacheState state);  // "usable", "file gone", …
bool is_useless(RowCacheState state);      // no run will read it

// By name; none when there is no such folder.
std::vector<FoundRowCache> find_row_caches(const std::filesystem::path& folder);

// Throws DataError when it cannot be removed.
void remove_row_cache(const FoundRowCache& cache);

}  // namespace paceline
