#include "prepare/file_piece.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temp_dir.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class FilePieces : public testing::Test {
 protected:
  FilePieces() { write_atomically(dir_.path() / "file", "0123456789"); }

  // Through a buffer of so many bytes, into files 0, 1, …
  std::optional<DataError> transfer(const std::vector<FilePiece>& pieces, std::size_t buffer,
                                    const fs::path& into) {
    std::optional<DataError> sending;
    std::optional<DataError> receiving;
    std::vector<std::uint64_t> sizes;
    for (const FilePiece& piece : pieces) sizes.push_back(piece.bytes());
    PieceReader reader(pieces);
    PieceWriter writer(sizes, [&](std::size_t number) { return into / std::to_string(number); });
    writer.write({}, receiving);
    std::vector<char> bytes(buffer);
    sent_ = 0;
    while (const std::size_t got = reader.read(bytes, sending)) {
      writer.write({bytes.data(), got}, receiving);
      sent_ += got;
    }
    return sending ? sending : receiving;
  }

  TempDir dir_;
  std::size_t sent_ = 0;
};

TEST_F(FilePieces, BecomeFilesOfTheirOwn) {
  const fs::path file = dir_.path() / "file";
  const std::vector<FilePiece> pieces = {{file, 0, 0, ""},  {file, 2, 5, "tail"},
                                         {file, 0, 10, ""}, {file, 4, 4, "only"},
                                         {file, 0, 0, ""},  {file, 9, 10, "x"}};
  for (const std::size_t buffer : {1U, 2U, 3U, 7U, 100U}) {
    ASSERT_FALSE(transfer(pieces, buffer, dir_.path()));
    const std::vector<std::string> expected = {"", "234tail", "0123456789", "only", "", "9x"};
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(read_text(dir_.path() / std::to_string(i)), expected[i]);
      fs::remove(dir_.path() / std::to_string(i));
    }
  }
}

// The other side counts on all bytes.
TEST_F(FilePieces, ThatCannotBeReadAreSentAllTheSame) {
  const auto failure = transfer(
      {{dir_.path() / "missing", 0, 5, "t"}, {dir_.path() / "file", 0, 10, ""}}, 4, dir_.path());
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->what(), HasSubstr("missing"));
  EXPECT_EQ(sent_, 16U);
  const auto cut = transfer({{dir_.path() / "file", 5, 15, ""}}, 4, dir_.path());
  ASSERT_TRUE(cut);
  EXPECT_THAT(cut->what(), HasSubstr("cut off"));
  EXPECT_EQ(sent_, 10U);
}

TEST_F(FilePieces, ThatCannotBeWrittenAreTakenAllTheSame) {
  const auto failure =
      transfer({{dir_.path() / "file", 0, 5, ""}, {dir_.path() / "file", 0, 5, ""}}, 4,
               dir_.path() / "no folder");
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->what(), HasSubstr("no folder"));
  EXPECT_EQ(sent_, 10U);
}

}  // namespace
}  // namespace paceline
