#include "data/fetch.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <utility>

#include "base/buffer.h"
#include "base/error.h"
#include "base/file/file.h"
#include "base/file/lock.h"
#include "base/text.h"
#include "base/units.h"
#include "data/gzip.h"
#include "data/idx.h"
#include "data/sha256.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSums = "SHA256SUMS";

std::string sums_of(const KnownSet& set) {
  std::string text;
  for (const DataFile& file : set.files) text += file.sha256 + "  " + file.name + "\n";
  return text;
}

// Held by the one process that works on a cache folder. A file and not the folder itself, because
// network file systems lock only what can be written.
FileLock lock_cache(const fs::path& folder, const Progress& progress) {
  const fs::path path = folder / ".lock";
  if (auto lock = FileLock::try_lock(path); lock && lock->held()) return std::move(*lock);
  progress(fmt::format("waiting for another process that is filling {}", folder.string()));
  FileLock lock = FileLock::wait(path);
  if (!lock.held()) throw DataError("cannot lock {}: its file system has no locks", path.string());
  return lock;
}

// A folder that is empty at first, whatever a killed process left there, and gone at the end.
class ScratchFolder {
 public:
  explicit ScratchFolder(fs::path path) : path_(std::move(path)) { empty(); }
  ~ScratchFolder() { remove(); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  void empty() {
    fs::remove_all(path_);
    fs::create_directories(path_ / "source");
    fs::create_directories(path_ / "verified");
  }
  void remove() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  fs::path source() const { return path_ / "source"; }
  fs::path verified() const { return path_ / "verified"; }

 private:
  fs::path path_;
};

// Uncompresses one file of `from` into `to`, and throws unless it is the one expected.
void verify_file(const DataFile& file, const fs::path& from, const fs::path& to) {
  GzipReader in(find_idx(from, file.name));
  AtomicFile out(to / file.name);
  Sha256 sum;
  Buffer block(std::size_t{1} << 20);
  std::uint64_t bytes = 0;
  while (const std::size_t got = in.read(block.bytes())) {
    bytes += got;
    if (bytes > file.bytes) break;
    sum.add(block.bytes().first(got));
    out.write(block.bytes().first(got));
  }
  if (bytes != file.bytes) {
    throw DataError("{} has {} bytes, expected {}", file.name,
                    bytes > file.bytes ? "more" : format_count(bytes), format_count(file.bytes));
  }
  const std::string found = sum.hex();
  if (found != file.sha256) {
    throw DataError("the SHA-256 of {} is {}, expected {}", file.name, found, file.sha256);
  }
  out.commit(AtomicFile::Durable::kLater);  // store() does that
}

// Of a file that is stored uncompressed: past zlib, which would double the time.
std::string sum_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  Sha256 sum;
  Buffer block(std::size_t{1} << 18);
  do {
    in.read(reinterpret_cast<char*>(block.bytes().data()),
            static_cast<std::streamsize>(block.size()));
    sum.add(block.bytes().first(static_cast<std::size_t>(in.gcount())));
  } while (in);
  if (!in.eof()) throw DataError("cannot read {}: {}", path.string(), errno_text(errno));
  return sum.hex();
}

// The first file that is not what was stored, in words; empty when all are.
std::string damage_in(const KnownSet& set, const fs::path& folder) {
  for (const DataFile& file : set.files) {
    const std::string found = sum_of(folder / file.name);
    if (found == file.sha256) continue;
    return fmt::format("{} is damaged: its SHA-256 is {}, expected {}",
                       (folder / file.name).string(), found, file.sha256);
  }
  return "";
}

void store(const KnownSet& set, ScratchFolder& scratch, const fs::path& home,
           const Progress& progress) {
  create_folders(home);
  // Files of an older set may be about to change.
  fs::remove(home / kSums);
  for (const DataFile& file : set.files) {
    progress(fmt::format("storing {}", (home / file.name).string()));
    move_into_place(scratch.verified() / file.name, home / file.name);
  }
  // Nobody comes back to clean up once the set is complete.
  scratch.remove();
  write_atomically(home / kSums, sums_of(set));
}

bool any_file_in(const KnownSet& set, const fs::path& folder) {
  return std::any_of(set.files.begin(), set.files.end(), [&](const DataFile& file) {
    return fs::exists(folder / file.name) || fs::exists(folder / (file.name + ".gz"));
  });
}

std::vector<DataSource> all_sources(const KnownSet& set, const fs::path& home) {
  std::vector<DataSource> sources = set.sources;
  if (any_file_in(set, home)) {
    const auto get = [home](const fs::path&) { return home; };
    sources.insert(sources.begin(), {"the files already in " + home.string(), get});
  }
  return sources;
}

std::string advice(const KnownSet& set, const fs::path& home) {
  std::vector<std::string> names;
  for (const DataFile& file : set.files) names.push_back(file.name);
  return fmt::format(
      "copy the files {} (plain or .gz) to {} by hand, then run: paceline data get {}",
      join(names, ", "), home.string(), set.name);
}

// Tries the sources in turn, until one has delivered what is wanted.
void get_and_store(const KnownSet& set, const fs::path& home, ScratchFolder& scratch,
                   const Progress& progress) {
  std::string reasons;
  for (const DataSource& source : all_sources(set, home)) {
    progress(fmt::format("{}: trying {}", set.name, source.name));
    try {
      scratch.empty();
      const fs::path folder = source.get(scratch.source());
      for (const DataFile& file : set.files) verify_file(file, folder, scratch.verified());
    } catch (const std::exception& error) {
      const std::string reason = fmt::format("{}: {}", source.name, error.what());
      progress(fmt::format("{}: no luck with {}", set.name, reason));
      reasons += "\n  " + reason;
      continue;
    }
    store(set, scratch, home, progress);
    progress(fmt::format("{}: complete and verified in {}", set.name, home.string()));
    return;
  }
  throw DataError("cannot get {}; tried:{}\n{}", set.name, reasons, advice(set, home));
}

}  // namespace

bool is_complete(const KnownSet& set, const fs::path& folder) {
  if (!fs::is_regular_file(folder / kSums) || read_text(folder / kSums) != sums_of(set))
    return false;
  return std::all_of(set.files.begin(), set.files.end(), [&](const DataFile& file) {
    std::error_code error;
    return fs::file_size(folder / file.name, error) == file.bytes && !error;
  });
}

void verify_files(const KnownSet& set, const fs::path& folder) {
  if (const std::string damage = damage_in(set, folder); !damage.empty()) {
    throw DataError("{}. Replace it with: paceline data get {} --data-dir {}", damage, set.name,
                    folder.parent_path().string());
  }
}

fs::path fetch(const KnownSet& set, const fs::path& cache, const Progress& progress) {
  // Sources run programs in folders of their own, where a relative path means another.
  const fs::path folder = fs::absolute(cache);
  const fs::path home = folder / set.name;
  std::string damage;
  const auto already_there = [&] {
    if (!is_complete(set, home)) return false;
    const std::string known = std::exchange(damage, damage_in(set, home));
    if (!damage.empty()) {
      if (damage != known) progress(fmt::format("{}; getting it anew", damage));
      return false;
    }
    progress(fmt::format("{}: already in {}", set.name, home.string()));
    return true;
  };
  if (already_there()) return home;
  try {
    create_folders(folder);
    const FileLock lock = lock_cache(folder, progress);
    if (already_there()) return home;
    ScratchFolder scratch(folder / (set.name + ".partial"));
    get_and_store(set, home, scratch, progress);
  } catch (const fs::filesystem_error& error) {
    throw DataError("cannot store {} in {}: {}", set.name, error.path1().string(),
                    error.code().message());
  }
  return home;
}

}  // namespace paceline
