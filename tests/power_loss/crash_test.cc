// The method itself: a careless writer must be caught.
#include "power_loss/crash.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <map>
#include <set>

#include "base/file/file.h"
#include "base/temp_dir.h"
#include "power_loss/many_crashes.h"
#include "power_loss/recorder.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::Each;
using testing::SizeIs;

const std::string kText(10'000, 'x');

// What `file` may be after a crash at the end of `work`; "none" when it is not there.
std::set<std::string> outcomes(const std::function<int(const fs::path&)>& work) {
  const TempDir dir;
  fs::create_directory(dir / "disk");
  write_atomically(dir / "disk/file", "old");
  const DiskLog log = record(dir / "disk", [&] { return work(dir / "disk"); });
  EXPECT_EQ(log.exit_code, 0) << log.output;
  std::set<std::string> found;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const fs::path after = dir / ("after" + std::to_string(seed));
    restore(log, {log.events.size(), seed}, after);
    found.insert(fs::exists(after / "file") ? read_text(after / "file") : "none");
  }
  return found;
}

int replace(const fs::path& folder, bool syncs_file, bool syncs_folder) {
  const int file = ::open((folder / "new").c_str(), O_WRONLY | O_CREAT, 0644);
  if (::write(file, kText.data(), kText.size()) < 0) return 1;
  if (syncs_file) ::fsync(file);
  ::close(file);
  fs::rename(folder / "new", folder / "file");
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY);
  if (syncs_folder) ::fsync(opened);
  ::close(opened);
  return 0;
}

TEST(PowerLoss, TearsWhatWasNotSyncedBeforeItWasRenamed) {
  const auto found = outcomes([](const fs::path& folder) { return replace(folder, false, true); });
  EXPECT_THAT(found, Contains(""));
  EXPECT_THAT(found, Contains(std::string(kText.size(), '\0')));
  EXPECT_GT(found.size(), 5U);
}

TEST(PowerLoss, TakesBackARenameWhoseFolderWasNotSynced) {
  const auto found = outcomes([](const fs::path& folder) { return replace(folder, true, false); });
  EXPECT_EQ(found, (std::set<std::string>{"old", kText}));
}

TEST(PowerLoss, LeavesWhatWasSynced) {
  const auto found = outcomes([](const fs::path& folder) { return replace(folder, true, true); });
  EXPECT_EQ(found, (std::set<std::string>{kText}));
}

TEST(PowerLoss, MixesOldAndNewWhereAFileIsWrittenInPlace) {
  const auto found = outcomes([](const fs::path& folder) {
    std::ofstream(folder / "file", std::ios::in) << "newer";
    return 0;
  });
  EXPECT_THAT(found, Contains("old"));
  EXPECT_THAT(found, Contains("newer"));
  EXPECT_THAT(found, Contains(std::string("old\0\0", 5)));
}

TEST(PowerLoss, RemovesAFolderThatWasMadeAndNotSynced) {
  const auto found = outcomes([](const fs::path& folder) {
    fs::remove(folder / "file");
    fs::create_directory(folder / "below");
    write_atomically(folder / "below/file", "safe");
    return fs::exists(folder / "below/file") ? 0 : 1;
  });
  EXPECT_EQ(found, (std::set<std::string>{"old", "none"}));
}

// What the recorder would not see must not look as if nothing had happened.
TEST(PowerLoss, TheRecorderRefusesWhatItDoesNotKnow) {
  using Way = std::function<bool(const fs::path&)>;
  const auto mapped = [](const fs::path& dir, int protection, int flags) {
    const int file = ::open((dir / "one").c_str(), flags);
    return ::mmap(nullptr, 3, protection, MAP_SHARED, file, 0) != MAP_FAILED;
  };
  const std::map<std::string, Way> ways = {
      {"a link",
       [](const fs::path& dir) {
         return ::link((dir / "one").c_str(), (dir / "other").c_str()) == 0;
       }},
      {"an exchange",
       [](const fs::path& dir) {
         return ::renameat2(AT_FDCWD, (dir / "one").c_str(), AT_FDCWD, (dir / "two").c_str(),
                            RENAME_EXCHANGE) == 0;
       }},
      {"a pipe", [](const fs::path& dir) { return ::mkfifo((dir / "pipe").c_str(), 0600) == 0; }},
      {"a hole",
       [](const fs::path& dir) {
         const int file = ::open((dir / "one").c_str(), O_RDWR);
         return ::fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 2) == 0;
       }},
      {"another way to open",
       [](const fs::path& dir) {
         open_how how{};
         how.flags = O_RDWR;
         return ::syscall(SYS_openat2, AT_FDCWD, (dir / "one").c_str(), &how, sizeof how) >= 0;
       }},
      {"a mapping that can be written to",
       [&](const fs::path& dir) { return mapped(dir, PROT_WRITE, O_RDWR); }},
      {"a mapping that could be",
       [&](const fs::path& dir) { return mapped(dir, PROT_READ, O_RDWR); }},
  };
  const auto recorded = [](const Way& way) {
    const TempDir dir;
    write_atomically(dir / "one", "one");
    write_atomically(dir / "two", "two");
    return record(dir.path(), [&] { return way(dir.path()) ? 0 : 1; }).exit_code;
  };
  for (const auto& [what, way] : ways) EXPECT_THROW(recorded(way), std::runtime_error) << what;
  EXPECT_EQ(recorded([&](const fs::path& dir) { return mapped(dir, PROT_READ, O_RDONLY); }), 0);
}

TEST(PowerLoss, SeesWhatProgramsAndTheirChildrenDo) {
  const TempDir dir;
  fs::create_directory(dir / "disk");
  const DiskLog log = record(
      dir / "disk", {"sh", "-c", "cd disk && mkdir a && (echo one > a/b) && mv a/b c && cat c"});
  EXPECT_EQ(log.exit_code, 0);
  EXPECT_EQ(log.output, "one\n");
  std::set<std::string> found;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const fs::path after = dir / std::to_string(seed);
    restore(log, {log.events.size(), seed}, after);
    found.insert(fs::exists(after / "c") ? read_text(after / "c") : "none");
  }
  EXPECT_THAT(found, Contains("none"));
  EXPECT_THAT(found, Contains("one\n"));
  EXPECT_THAT(found, Contains(""));
}

}  // namespace
}  // namespace paceline
