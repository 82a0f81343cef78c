// Where a run goes that nobody has named a directory for: runs/<recipe>-<YYYYmmdd-HHMMSS>,
// or with -2, -3, … when that exists.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

namespace paceline {

// The first that does not exist; another process may take it.
std::filesystem::path default_run_dir(const std::string& recipe,
                                      std::chrono::system_clock::time_point now);

// Makes it, so that no other process gets the same. What is still empty in the end is
// removed: the run was refused before it began. Throws DataError.
class ClaimedRunDir {
 public:
  ClaimedRunDir(const std::string& recipe, std::chrono::system_clock::time_point now);
  ~ClaimedRunDir();
  ClaimedRunDir(const ClaimedRunDir&) = delete;
  ClaimedRunDir& operator=(const ClaimedRunDir&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  bool made_parent_ = false;
  std::filesystem::path path_;
};

}  // namespace paceline
