#include "data/sparse/row_caches.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.h"
#include "base/file/lock.h"
#include "data/sparse/row_cache.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUnfinished = ".partial";

bool remove_end(std::string_view& name, std::string_view end) {
  if (!name.ends_with(end)) return false;
  name.remove_suffix(end.size());
  return true;
}

// NAME.DIGEST.rows or NAME.DIGEST.test.rows, as cache_path() makes it.
bool has_cache_name(std::string_view name) {
  constexpr std::size_t kDigest = 16;
  if (!remove_end(name, ".rows")) return false;
  remove_end(name, ".test");
  if (name.size() < kDigest + 2 || name[name.size() - kDigest - 1] != '.') return false;
  return std::ranges::all_of(name.substr(name.size() - kDigest), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
}

// Calls `act` while nobody can begin to write the unfinished file; false: somebody writes it.
template <typename Act>
bool while_nobody_writes(const fs::path& path, const Act& act) {
  const auto lock = FileLock::try_shared(path);
  if (lock) act();
  return lock.has_value();
}

// One that has just been begun may have no bytes yet.
RowCacheState state_of_unfinished(const fs::path& path) {
  return while_nobody_writes(path, [] {}) ? RowCacheState::kPartial : RowCacheState::kGrowing;
}

void look_into(FoundRowCache& found) {
  try {
    const RowCache cache(found.path);
    found.rows = cache.info().rows;
    found.origin = parse_origin(cache.info().source);
  } catch (const DataError&) {
    found.state = RowCacheState::kUnusable;
    return;
  }
  found.state = found.origin.state == OriginState::kGone      ? RowCacheState::kGone
                : found.origin.state == OriginState::kChanged ? RowCacheState::kChanged
                                                              : RowCacheState::kUsable;
}

}  // namespace

const char* name_of(RowCacheState state) {
  switch (state) {
    case RowCacheState::kUsable:
      return "usable";
    case RowCacheState::kChanged:
      return "file changed";
    case RowCacheState::kGone:
      return "file gone";
    case RowCacheState::kUnusable:
      return "unusable";
    case RowCacheState::kPartial:
      return "left over";
    case RowCacheState::kGrowing:
      return "being written";
  }
  return "";
}

bool is_useless(RowCacheState state) {
  return state != RowCacheState::kUsable && state != RowCacheState::kGrowing;
}

std::vector<FoundRowCache> find_row_caches(const fs::path& folder) {
  std::vector<FoundRowCache> all;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string file_name = entry.path().filename();
    std::string_view name = file_name;
    const bool unfinished = remove_end(name, kUnfinished);
    if (!has_cache_name(name) || entry.is_symlink(ignored) || !entry.is_regular_file(ignored)) {
      continue;
    }
    FoundRowCache found;
    found.path = entry.path();
    found.bytes = entry.file_size(ignored);
    if (!begins_as_row_cache(found.path) && !(unfinished && found.bytes == 0)) continue;
    if (unfinished) {
      found.state = state_of_unfinished(found.path);
    } else {
      look_into(found);
    }
    all.push_back(std::move(found));
  }
  std::ranges::sort(all, {}, &FoundRowCache::path);
  return all;
}

void remove_row_cache(const FoundRowCache& cache) {
  std::error_code error;
  const auto remove = [&] { fs::remove(cache.path, error); };
  if (cache.state != RowCacheState::kPartial) {
    remove();
  } else if (!while_nobody_writes(cache.path, remove)) {
    throw DataError("{} is being written now: left as it is", cache.path.string());
  }
  if (error) throw DataError("cannot remove {}: {}", cache.path.string(), error.message());
}

}  // namespace paceline
