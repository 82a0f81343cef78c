// Any words, numbers, labels and settings in a file of prepared reviews, and any damage to the
// bytes of one: a DataError, or rows of words that there are.
#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/file/file.h"
#include "base/temp_dir.h"
#include "data/prepared.h"
#include "data/prepared_block.h"
#include "data/prepared_file.h"
#include "fuzz/fuzz_target.h"

namespace paceline {
namespace prepared_fuzzer {

constexpr std::uint8_t kDamage = 0xFF;  // the first byte: what follows is damage

FuzzBytes as_bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// Takes up to so many bytes.
FuzzBytes take(FuzzBytes& bytes, std::size_t most) {
  const FuzzBytes taken = bytes.first(std::min(most, bytes.size()));
  bytes = bytes.subspan(taken.size());
  return taken;
}

void add_settings(const std::filesystem::path& path, std::string_view text) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, std::max<std::size_t>(1, text.size()));
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t attribute = H5Acreate2(file, "settings", type, space, H5P_DEFAULT, H5P_DEFAULT);
  const std::string bytes = text.empty() ? std::string(1, '\0') : std::string(text);
  H5Awrite(attribute, type, bytes.data());
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
  H5Fclose(file);
}

void write(const std::filesystem::path& path, std::uint8_t choice, FuzzBytes bytes) {
  const std::size_t length = 1 + choice % 5;
  const std::size_t rows = 1 + choice / 8 % 4;
  std::vector<std::string> words;
  for (int i = choice / 32; i > 0; --i) words.emplace_back(as_text(take(bytes, 4)));
  std::vector<std::uint16_t> ids(rows * length);
  for (std::uint16_t& id : ids) id = take_byte(bytes) % 16;
  std::vector<std::uint8_t> labels(rows);
  for (std::uint8_t& label : labels) label = take_byte(bytes) % 3;
  PreparedFile(path)
      .version(kPreparedVersion)
      .words(words)
      .layout({.chunk_rows = choice % 2 == 0 ? hsize_t{2} : hsize_t{0}})
      .part("train", length, ids, labels);
  add_settings(path, as_text(bytes));
}

void check(const std::filesystem::path& path) {
  const PreparedReviews reviews(path);
  const std::string cut = reviews.setting("cut");
  require(cut.size() < 5000);
  const Vocabulary vocabulary = reviews.vocabulary();
  require(vocabulary.words().size() + Vocabulary::kFirstWord == reviews.numbers());
  require(reviews.labels(PreparedPart::kTrain).size() == reviews.examples(PreparedPart::kTrain));
  const auto ids = reviews.ids(PreparedPart::kTrain);
  const PreparedBlock block = read_block(*ids, 0, {reviews.numbers(), reviews.length()}, {});
  require(block.size() == reviews.examples(PreparedPart::kTrain));
  for (std::size_t i = 0; i < block.size(); ++i) {
    const auto row = block.row(i);
    require(row.size() == 1 + static_cast<std::size_t>(row[0]));
    for (const std::int32_t token : row.subspan(1)) {
      require(token > 0 && static_cast<std::uint32_t>(token) < reviews.numbers());
    }
  }
}

// Changes to a file, three bytes each: where, and what is added to the byte there. The last byte of
// an odd number cuts it off.
void damage(std::string& file, FuzzBytes bytes) {
  while (bytes.size() >= 3) {
    const std::size_t at = (std::size_t{bytes[0]} << 8 | bytes[1]) % file.size();
    file[at] = static_cast<char>(static_cast<std::uint8_t>(file[at]) + bytes[2]);
    bytes = bytes.subspan(3);
  }
  if (bytes.size() == 1) file.resize(file.size() * bytes[0] / 255);
}

void run(FuzzBytes bytes) {
  static const TempDir folder;
  const std::filesystem::path file = folder / "reviews.h5";
  const std::uint8_t choice = take_byte(bytes);
  if (choice != kDamage) {
    write(file, choice, bytes);
    accepts<DataError>([&] { check(file); });
    return;
  }
  static const std::string whole = [&] {
    constexpr std::uint8_t kSample = 0xE8;  // two rows of three numbers, in chunks; seven words
    using namespace std::string_view_literals;
    constexpr auto kContent =
        "one\0two\0six\0fourfiveninezero\4\5\6\7\10\4\0\1{\"cut\": \"end\"}"sv;
    write(folder / "whole.h5", kSample, as_bytes_of(kContent));
    check(folder / "whole.h5");
    return read_text(folder / "whole.h5");
  }();
  std::string content = whole;
  damage(content, bytes);
  const BytesFile damaged(as_bytes_of(content));
  accepts<DataError>([&] { check(damaged.path()); });
}

}  // namespace prepared_fuzzer

const FuzzTarget kPreparedFuzzer{"prepared", prepared_fuzzer::run};

}  // namespace paceline
