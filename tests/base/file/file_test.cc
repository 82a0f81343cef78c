#include "base/file/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/data_error.h"
#include "base/temp_dir.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ReadText, ReturnsWhatWasWritten) {
  const TempDir dir;
  std::string text(100'000, 'x');
  text[50'000] = '\0';
  write_atomically(dir / "file", text);
  EXPECT_EQ(read_text(dir / "file"), text);
}

TEST(ReadText, OfAnEmptyFileIsEmpty) {
  const TempDir dir;
  write_atomically(dir / "file", "");
  EXPECT_EQ(read_text(dir / "file"), "");
}

TEST(ReadText, OfAMissingFileNamesItAndTheReason) {
  const TempDir dir;
  EXPECT_THAT(data_error_of([&] { read_text(dir / "missing"); }),
              AllOf(HasSubstr("missing"), HasSubstr("No such file or directory")));
}

TEST(ReadText, OfAFolderIsAnError) {
  const TempDir dir;
  EXPECT_THAT(data_error_of([&] { read_text(dir.path()); }), HasSubstr("Is a directory"));
}

TEST(AtomicFile, IsNotThereBeforeCommit) {
  const TempDir dir;
  AtomicFile file(dir / "file");
  file.write("half");
  EXPECT_FALSE(fs::exists(dir / "file"));
  file.write(" and half");
  file.commit();
  EXPECT_EQ(read_text(dir / "file"), "half and half");
  EXPECT_THAT(names_in(dir.path()), ElementsAre("file"));
}

TEST(AtomicFile, LeavesNothingWithoutCommit) {
  const TempDir dir;
  {
    AtomicFile file(dir / "file");
    file.write("half");
  }
  EXPECT_THAT(names_in(dir.path()), IsEmpty());
}

TEST(AtomicFile, KeepsTheOldContentUntilCommit) {
  const TempDir dir;
  write_atomically(dir / "file", "old");
  {
    AtomicFile file(dir / "file");
    file.write("new");
    EXPECT_EQ(read_text(dir / "file"), "old");
  }
  EXPECT_EQ(read_text(dir / "file"), "old");
  write_atomically(dir / "file", "new");
  EXPECT_EQ(read_text(dir / "file"), "new");
}

TEST(AtomicFile, ReplacesWhatAKilledWriterLeft) {
  const TempDir dir;
  std::ofstream(dir / "file.partial") << "a long rest of an earlier attempt";
  write_atomically(dir / "file", "new");
  EXPECT_EQ(read_text(dir / "file"), "new");
  EXPECT_THAT(names_in(dir.path()), ElementsAre("file"));
}

TEST(AtomicFile, OnAFullDiskSaysSoAndKeepsTheOldContent) {
  const TempDir dir;
  write_atomically(dir / "file", "old");
  fs::create_symlink("/dev/full", dir / "file.partial");
  EXPECT_THAT(data_error_of([&] { write_atomically(dir / "file", "new"); }),
              AllOf(HasSubstr("cannot write"), HasSubstr((dir / "file").string()),
                    HasSubstr("No space left on device")));
  EXPECT_EQ(read_text(dir / "file"), "old");
  EXPECT_THAT(names_in(dir.path()), ElementsAre("file"));
}

TEST(AtomicFile, InAMissingFolderNamesTheFile) {
  const TempDir dir;
  EXPECT_THAT(data_error_of([&] { AtomicFile file(dir / "no" / "file"); }),
              AllOf(HasSubstr("cannot create"), HasSubstr("no/file")));
}

TEST(AtomicFile, ThatCannotTakeItsNameLeavesNothing) {
  const TempDir dir;
  fs::create_directory(dir / "taken");
  EXPECT_THAT(data_error_of([&] { write_atomically(dir / "taken", "text"); }),
              HasSubstr("Is a directory"));
  EXPECT_THAT(names_in(dir.path()), ElementsAre("taken"));
}

TEST(AtomicFile, ReplacesWhatASymbolicLinkPointsTo) {
  const TempDir dir;
  write_atomically(dir / "target", "old");
  fs::create_symlink("target", dir / "link");
  write_atomically(dir / "link", "new");
  EXPECT_TRUE(fs::is_symlink(dir / "link"));
  EXPECT_EQ(read_text(dir / "target"), "new");
}

TEST(AtomicFile, WritesToAPipeAsItIs) {
  const TempDir dir;
  ASSERT_EQ(::mkfifo(dir.file("pipe").c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = read_text(dir / "pipe"); });
  write_atomically(dir / "pipe", "through");
  reader.join();
  EXPECT_EQ(got, "through");
  EXPECT_TRUE(fs::is_fifo(dir / "pipe"));
}

}  // namespace
}  // namespace paceline
