// What the ways to write a file promise.
#include "base/file/file.h"

#include <gtest/gtest.h>

#include "base/temp_dir.h"
#include "data/fetch.h"
#include "data/sha256.h"
#include "power_loss/many_crashes.h"
#include "power_loss/recorder.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

class PowerLossOfFiles : public testing::Test {
 protected:
  PowerLossOfFiles() { fs::create_directory(disk()); }
  fs::path disk() const { return dir_ / "disk"; }
  fs::path after() const { return dir_ / "after"; }

  TempDir dir_;
};

TEST_F(PowerLossOfFiles, AReplacedFileIsTheOldOneOrTheNewOne) {
  const std::string text(9'000, 'n');
  write_atomically(disk() / "file", "old");
  const DiskLog log = record(disk(), [&] {
    write_atomically(disk() / "file", text);
    return 0;
  });
  after_crashes(log, 200, after(), [&](const Crash& crash) {
    const std::string found = read_text(after() / "file");
    EXPECT_TRUE(found == text || (found == "old" && !is_at_end(log, crash))) << found.size();
  });
}

TEST_F(PowerLossOfFiles, AFileMovedIntoPlaceIsWholeOrNotThere) {
  const std::string text(9'000, 'n');
  const DiskLog log = record(disk(), [&] {
    std::FILE* out = std::fopen((disk() / "file.partial").c_str(), "w");
    std::fwrite(text.data(), 1, text.size(), out);
    std::fclose(out);
    move_into_place(disk() / "file.partial", disk() / "file");
    return 0;
  });
  after_crashes(log, 200, after(), [&](const Crash& crash) {
    if (!fs::exists(after() / "file")) {
      EXPECT_FALSE(is_at_end(log, crash));
    } else {
      EXPECT_EQ(read_text(after() / "file"), text);
    }
  });
}

TEST_F(PowerLossOfFiles, FoldersThatWereMadeStayWithWhatIsInThem) {
  const DiskLog log = record(disk(), [&] {
    create_folders(disk() / "a/b/c");
    write_atomically(disk() / "a/b/c/file", "kept");
    return 0;
  });
  after_crashes(log, 100, after(), [&](const Crash& crash) {
    if (is_at_end(log, crash)) {
      EXPECT_EQ(read_text(after() / "a/b/c/file"), "kept");
    }
  });
}

// A set that counts as complete has every file, to the last byte.
TEST_F(PowerLossOfFiles, AFetchedSetIsWholeOrNotComplete) {
  KnownSet set;
  set.name = "letters";
  for (const char letter : {'a', 'b', 'c'}) {
    const std::string text(5'000, letter);
    Sha256 sum;
    sum.add(std::as_bytes(std::span(text)));
    set.files.push_back({std::string(1, letter), text.size(), sum.hex()});
  }
  set.sources = {{"here", [&](const fs::path& scratch) {
                    for (const DataFile& file : set.files) {
                      write_atomically(scratch / file.name, std::string(file.bytes, file.name[0]));
                    }
                    return scratch;
                  }}};
  const DiskLog log = record(disk(), [&] {
    fetch(set, disk() / "cache", [](std::string_view) {});
    return 0;
  });
  ASSERT_EQ(log.exit_code, 0) << log.output;
  after_crashes(log, 200, after(), [&](const Crash& crash) {
    const fs::path home = after() / "cache" / set.name;
    if (is_complete(set, home)) {
      EXPECT_NO_THROW(verify_files(set, home));
    } else {
      EXPECT_FALSE(is_at_end(log, crash));
    }
  });
}

}  // namespace
}  // namespace paceline
