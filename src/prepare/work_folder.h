// The folder of a preparation that is under way: what is done lies there until the output does.
//
// One process at a time; another is refused. Throws DataError.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/file/lock.h"

namespace paceline {

class WorkFolder {
 public:
  // `made_of` is all that what lies there depends on. What an earlier run has left is gone on with
  // or not; when that was made of something else it is refused, unless all is to be discarded. A
  // folder that holds something else always is.
  enum class Earlier { kGoOn, kDiscardSame, kDiscard };
  WorkFolder(const std::filesystem::path& path, const nlohmann::json& made_of, Earlier earlier);
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  bool resumed() const { return resumed_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

  // A number that was chosen when the folder was made, or `now`: what is cut into tasks must be cut
  // as it was.
  std::uint64_t chosen(const std::string& name, std::uint64_t now);

  // Removes all but files whose names begin so.
  void keep_only(const std::string& prefix) const;
  void remove();

 private:
  void expect_nothing() const;
  void save() const;

  std::filesystem::path path_;
  std::optional<FileLock> lock_;  // until the end
  nlohmann::json manifest_;
  bool resumed_ = false;
};

}  // namespace paceline
