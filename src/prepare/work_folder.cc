#include "prepare/work_folder.h"

#include "base/error.h"
#include "base/file/file.h"
#include "base/json.h"
#include "base/text.h"
#include "prepare/tasks.h"

namespace paceline {

namespace fs = std::filesystem;

namespace {

constexpr const char* kOver = "over";  // in the manifest: nothing here is needed any more

// The names of what is not the same in both.
std::string differences(const nlohmann::json& before, const nlohmann::json& now) {
  std::vector<std::string> names;
  for (const auto& [name, value] : now.items()) {
    if (before.is_object() && before.contains(name) && before[name] == value) continue;
    const std::string inside =
        value.is_object() && before.contains(name) ? differences(before[name], value) : "";
    names.push_back(inside.empty() ? name : inside);
  }
  return join(names, ", ");
}

}  // namespace

WorkFolder::WorkFolder(const fs::path& path, const nlohmann::json& made_of, Earlier earlier)
    : path_(path) {
  const fs::path lock = path_ / "lock";
  for (int tries = 0; tries < 100 && !(lock_ && lock_->is_of(lock)); ++tries) {
    fs::create_directories(path_);
    lock_ = FileLock::try_lock(lock);
    if (!lock_)
      throw DataError("another process prepares this output: {} is locked", lock.string());
  }
  manifest_ = read_done(path_ / "manifest.json");
  if (!manifest_.is_object()) manifest_ = nullptr;  // no run has written that
  const bool is_over = manifest_.contains(kOver);
  if (!manifest_.is_null() && !is_over && earlier != Earlier::kDiscard) {
    const std::string others = differences(manifest_.value("made_of", nlohmann::json()), made_of);
    if (!others.empty()) {
      throw DataError(
          "{} is of an earlier run with other {}: go on with what it had, or begin anew with "
          "--fresh",
          path_.string(), others);
    }
    resumed_ = earlier == Earlier::kGoOn;
    if (resumed_) return;
  }
  const bool ours = fs::exists(path_ / "manifest.json") && earlier == Earlier::kDiscard;
  if (manifest_.is_null() && !ours) expect_nothing();
  keep_only({});
  manifest_ = {{"made_of", made_of}};
  save();
}

// A folder that is not known to be ours is not ours to empty.
void WorkFolder::expect_nothing() const {
  for (const auto& entry : fs::directory_iterator(path_)) {
    const std::string name = entry.path().filename().string();
    if (name == "lock" || name.starts_with("manifest.json")) continue;
    throw DataError(
        "{} is not of an earlier run, or is damaged, and it is not empty: remove it, or name "
        "another "
        "--work-dir",
        path_.string());
  }
}

void WorkFolder::keep_only(const std::string& prefix) const {
  for (const auto& entry : fs::directory_iterator(path_)) {
    const std::string name = entry.path().filename().string();
    const bool kept = !prefix.empty() && (name == "manifest.json" || name.starts_with(prefix));
    if (name != "lock" && !kept) fs::remove_all(entry.path());
  }
}

void WorkFolder::save() const {
  write_atomically(path_ / "manifest.json", sealed(manifest_));
}

std::uint64_t WorkFolder::chosen(const std::string& name, std::uint64_t now) {
  if (!manifest_.contains(name)) {
    manifest_[name] = now;
    save();
  }
  const auto number = count_at(manifest_, name.c_str());
  if (number) return *number;
  throw DataError("{} is damaged: begin anew with --fresh", (path_ / "manifest.json").string());
}

// When the power fails meanwhile, any of the files may come back. Those that do are known to be of
// no use: the manifest says so before the first is removed, and goes when the others are gone from
// the disk (saving it again syncs the folder).
void WorkFolder::remove() {
  try {
    manifest_ = {{kOver, true}};
    save();
    keep_only("manifest.json");
    save();
  } catch (const std::exception&) {  // what is left over does no harm
  }
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace paceline
