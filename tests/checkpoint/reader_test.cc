#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temp_dir.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/sample.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t kBlock = CheckpointSections().block_floats;

// Reads all there is, as a resuming run does.
void read_all(const fs::path& path) {
  const CheckpointReader reader(path);
  for (std::uint64_t vector = 0; vector <= reader.info().slots; ++vector) {
    read_floats(reader, vector, {0, reader.info().layout.size});
  }
}

TEST(CheckpointReader, ReturnsWhatWasWritten) {
  const TempDir dir;
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{7850},
                                   kBlock - 1, kBlock, kBlock + 1, 2 * kBlock + 77}) {
    for (const std::uint64_t slots : {0, 1, 2}) {
      write_checkpoint(dir / "file", sample_info(size, slots), sample_fill);
      const CheckpointReader reader(dir / "file");
      reader.verify();
      for (std::uint64_t vector = 0; vector <= slots; ++vector) {
        ASSERT_EQ(read_floats(reader, vector, {0, size}), sample_values(vector, {0, size}))
            << size << " floats, vector " << vector << " of " << slots + 1;
      }
    }
  }
}

TEST(CheckpointReader, ReturnsTheInformationThatWasWritten) {
  const TempDir dir;
  CheckpointInfo info = sample_info(0, 3);
  info.layout = {{{"conv.weights", {2, 3, 4}, {0, 24}},
                  {"conv \"1\".bias", {2}, {24, 26}},
                  {"scalar", {}, {26, 27}},
                  {"nothing", {5, 0}, {27, 27}}},
                 27};
  info.version = UINT64_MAX;
  info.applied = {{0, 7}, {9, 10}, {UINT64_MAX - 1, UINT64_MAX}};
  write_checkpoint(dir / "file", info, sample_fill);
  const CheckpointReader reader(dir / "file");
  const CheckpointInfo& read = reader.info();
  reader.expect_layout(info.layout);
  EXPECT_EQ(read.layout.tensors[0].floats, (Range{0, 24}));
  EXPECT_EQ(read.model, info.model);
  EXPECT_EQ(read.optimizer, info.optimizer);
  EXPECT_EQ(read.slots, info.slots);
  EXPECT_EQ(read.version, info.version);
  EXPECT_EQ(read.applied, info.applied);
  EXPECT_EQ(read.examples, info.examples);
  EXPECT_EQ(read.epoch, info.epoch);
  EXPECT_EQ(read.config, info.config);
}

TEST(CheckpointReader, ReadsAnyRangeAsPartOfTheWhole) {
  const TempDir dir;
  const std::uint64_t size = 2 * kBlock + 1001;  // vectors begin in the middle of blocks
  write_checkpoint(dir / "file", sample_info(size, 1), sample_fill);
  const CheckpointReader reader(dir / "file");
  const std::uint64_t at_odds = 4 * kBlock - size;  // a block of vector 1 begins here
  std::vector<Range> ranges = {{0, 0},          {size, size},         {0, 1},
                               {0, kBlock},     {kBlock - 1, kBlock}, {kBlock, kBlock + 1},
                               {0, size},       {1, size - 1},        {at_odds, at_odds + kBlock},
                               {size - 1, size}};
  Random random(5);
  for (int i = 0; i < 30; ++i) {
    const std::uint64_t begin = random.below(size);
    ranges.push_back({begin, begin + random.below(size - begin + 1)});
  }
  for (const std::uint64_t vector : {0, 1}) {
    const std::vector<float> whole = sample_values(vector, {0, size});
    for (const Range& range : ranges) {
      if (range.end > size) continue;
      const std::vector<float> part(whole.begin() + static_cast<std::ptrdiff_t>(range.begin),
                                    whole.begin() + static_cast<std::ptrdiff_t>(range.end));
      ASSERT_EQ(read_floats(reader, vector, range), part) << range.begin << " to " << range.end;
    }
  }
}

TEST(CheckpointReader, FindsEveryByteThatChanged) {
  const TempDir dir;
  const fs::path path = dir / "file";
  write_checkpoint(path, sample_info(50, 1), sample_fill);
  const std::string good = bytes_of(path);
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  const auto put = [&](std::size_t at, char byte) {
    file.seekp(static_cast<std::streamoff>(at)).put(byte).flush();
  };
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const int flip : {0x01, 0x20, 0x80}) {
      put(at, static_cast<char>(good[at] ^ flip));
      ASSERT_THAT(data_error_of([&] { read_all(path); }), HasSubstr(path.string()))
          << "byte " << at;
    }
    put(at, good[at]);
  }
  ASSERT_EQ(data_error_of([&] { read_all(path); }), "no DataError");
}

TEST(CheckpointReader, SaysWhichBytesAreDamagedAndReadsTheOthers) {
  const TempDir dir;
  write_checkpoint(dir / "file", sample_info(3 * kBlock + 9, 0), sample_fill);
  std::string bytes = bytes_of(dir / "file");
  const std::size_t head = bytes.size() - (3 * kBlock + 9) * sizeof(float) - 5 * 8;
  bytes[head + (kBlock + 5) * sizeof(float)] ^= 1;
  write_bytes(dir / "file", bytes);
  const CheckpointReader reader(dir / "file");
  EXPECT_EQ(read_floats(reader, 0, {0, kBlock}), sample_values(0, {0, kBlock}));
  EXPECT_EQ(read_floats(reader, 0, {2 * kBlock + 1, 3 * kBlock + 9}),
            sample_values(0, {2 * kBlock + 1, 3 * kBlock + 9}));
  const std::string where =
      fmt::format("bytes {} to {} do not match", head + kBlock * sizeof(float),
                  head + 2 * kBlock * sizeof(float));
  for (const Range& range : {Range{kBlock, 2 * kBlock}, Range{0, 3 * kBlock},
                             Range{kBlock - 1, kBlock + 1}, Range{2 * kBlock - 1, 2 * kBlock}}) {
    EXPECT_THAT(data_error_of([&] { read_floats(reader, 0, range); }), HasSubstr(where));
  }
  EXPECT_THAT(data_error_of([&] { reader.verify(); }), HasSubstr(where));
}

TEST(CheckpointReader, RefusesAFileThatIsTooShortOrTooLong) {
  const TempDir dir;
  const fs::path path = dir / "file";
  write_checkpoint(path, sample_info(50, 1), sample_fill);
  write_bytes(dir / "longer", bytes_of(path) + '\0');
  EXPECT_THAT(data_error_of([&] { CheckpointReader reader(dir / "longer"); }),
              AllOf(HasSubstr((dir / "longer").string()), HasSubstr("is damaged")));
  for (std::uint64_t length = fs::file_size(path); length-- > 0;) {
    fs::resize_file(path, length);
    ASSERT_THAT(data_error_of([&] { CheckpointReader reader(path); }),
                AllOf(HasSubstr(path.string()), HasSubstr("truncated")))
        << length;
  }
}

TEST(CheckpointReader, RefusesWhatIsNoCheckpoint) {
  const TempDir dir;
  write_bytes(dir / "text", std::string(1000, 'x'));
  EXPECT_THAT(data_error_of([&] { CheckpointReader reader(dir / "text"); }),
              AllOf(HasSubstr((dir / "text").string()), HasSubstr("is not a checkpoint")));
  EXPECT_THAT(data_error_of([&] { CheckpointReader reader(dir / "missing"); }),
              AllOf(HasSubstr((dir / "missing").string()), HasSubstr("No such file")));
  EXPECT_THAT(data_error_of([&] { CheckpointReader reader(dir.path()); }),
              HasSubstr(dir.path().string()));
}

TEST(CheckpointReader, NamesTheTensorThatDiffersAndBothShapes) {
  const TempDir dir;
  CheckpointInfo info = sample_info(0, 0);
  info.layout = {{{"weights", {784, 10}, {0, 7840}}, {"bias", {10}, {7840, 7850}}}, 7850};
  write_checkpoint(dir / "file", info, sample_fill);
  const CheckpointReader reader(dir / "file");
  const auto mismatch = [&](const std::vector<Tensor>& tensors, std::uint64_t size) {
    return data_error_of([&] { reader.expect_layout({tensors, size}); });
  };
  const Tensor weights{"weights", {784, 10}, {0, 7840}};
  EXPECT_EQ(mismatch({weights, {"bias", {10}, {7840, 7850}}}, 7850), "no DataError");
  EXPECT_THAT(mismatch({{"weights", {784, 5}, {0, 3920}}, {"bias", {5}, {3920, 3925}}}, 3925),
              AllOf(HasSubstr((dir / "file").string()), HasSubstr("'weights' [784, 10]"),
                    HasSubstr("'weights' [784, 5]"), Not(HasSubstr("bias"))));
  EXPECT_THAT(mismatch({weights, {"offset", {10}, {7840, 7850}}}, 7850),
              AllOf(HasSubstr("'bias' [10]"), HasSubstr("'offset' [10]")));
  EXPECT_THAT(mismatch({weights, {"bias", {2, 5}, {7840, 7850}}}, 7850),
              AllOf(HasSubstr("'bias' [10]"), HasSubstr("'bias' [2, 5]")));
  EXPECT_THAT(mismatch({weights}, 7840), AllOf(HasSubstr("'bias' [10]"), HasSubstr("none")));
  EXPECT_THAT(mismatch({weights, {"bias", {10}, {7840, 7850}}}, 7851),
              AllOf(HasSubstr("7850"), HasSubstr("7851")));
}

}  // namespace
}  // namespace paceline
