// Any bytes as what packages hold of known sets: a DataError, or the reviews, the labels and the
// images that are in them.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file/file.h"
#include "base/temp_dir.h"
#include "base/text.h"
#include "data/cifar.h"
#include "data/known_sets.h"
#include "data/package_files.h"
#include "fuzz/fuzz_target.h"

namespace paceline {
namespace package_fuzzer {

std::size_t check_lines(const std::string& lines) {
  std::vector<std::string> all = split(lines, '\n');
  require(!all.empty() && all.back().empty());
  all.pop_back();
  for (const std::string& line : all) {
    require(line.starts_with("0\t") || line.starts_with("1\t"));
    require(line.find_first_of("\t\r", 2) == std::string::npos);
    require(line.find("<br />") == std::string::npos);
  }
  return all.size();
}

void check_reviews(std::string_view json) {
  accepts<DataError>([&] {
    const ReviewLines lines = split_reviews(json);
    const std::size_t half = nlohmann::json::parse(json).size() / 2;
    require(check_lines(lines.test) == half);
    require(lines.train.empty() || check_lines(lines.train) <= half);
  });
}

void check_labels(std::string_view json) {
  accepts<DataError>([&] {
    const auto labels = class_labels(json, 10);
    require(nlohmann::json::parse(json) == nlohmann::json(labels));
    for (const std::uint8_t label : labels) require(label < 10);
  });
}

// Records are long: the bytes are repeated until there are some.
void check_records(FuzzBytes bytes) {
  constexpr std::size_t kPlane = 32 * 32;
  std::string records(as_text(bytes));
  if (!records.empty() && records.size() < kCifarRecord) records.resize(2 * kCifarRecord);
  static const TempDir folder;
  write_atomically(folder / std::string(kCifarTest), records);
  accepts<DataError>([&] {
    const auto images = open_cifar(folder.path(), Split::kTest, 0, "fuzzed");
    require(images->info().examples * kCifarRecord == records.size());
    for (std::uint64_t i = 0; i < images->info().examples; ++i) {
      Batch batch;
      images->read(std::span(&i, 1), batch);
      const char* record = records.data() + i * kCifarRecord;
      require(batch.labels[0] == record[0]);
      for (std::size_t at = 0; at < 3 * kPlane; ++at) {
        require(batch.rows[0][at] ==
                static_cast<std::uint8_t>(record[1 + at % 3 * kPlane + at / 3]));
      }
    }
  });
}

void run(FuzzBytes bytes) {
  const std::uint8_t choice = take_byte(bytes);
  if (choice % 4 == 0) return check_labels(as_text(bytes));
  if (choice % 16 == 1) return check_records(bytes);  // the disk makes it slow
  check_reviews(as_text(bytes));
}

}  // namespace package_fuzzer

const FuzzTarget kPackageFuzzer{"package", package_fuzzer::run};

}  // namespace paceline
