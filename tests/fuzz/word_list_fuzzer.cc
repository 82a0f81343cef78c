// Any bytes as the files that preparing leaves between its steps: a DataError, or records that fill
// them to the last byte. Their checksums are made to fit, or no record would ever be read.
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "fuzz/fuzz_target.h"
#include "prepare/groups.h"
#include "prepare/number_step.h"
#include "prepare/runs.h"
#include "prepare/tasks.h"
#include "prepare/word_lists.h"

namespace paceline {
namespace word_list_fuzzer {

constexpr std::size_t kRecordHead = 16;  // of a word and of a text

template <typename Number>
Number number_at(std::string_view bytes, std::size_t at) {
  Number number{};
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

std::string as_bytes_of(std::uint64_t number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

// A list counts the same word by word and merged.
void check_list(const BytesFile& file, std::size_t records) {
  accepts<DataError>([&] {
    std::size_t bytes = 0;
    std::map<std::string, std::uint64_t, std::less<>> counts;
    for_each_listed(file.path(), [&](const ListedWord& word) {
      bytes += kRecordHead + word.word.size();
      if (word.count > 0) counts[std::string(word.word)] += word.count;
    });
    require(bytes == records);
    const WordTotals totals = merge_lists({file.path()}, {.most = 10}, StopFlag(false));
    require(totals.different == counts.size());
    require(totals.words.size() <= 10);
    for (const auto& [word, count] : totals.words) require(counts.at(word) == count);
  });
}

void check_run(const BytesFile& file, std::size_t records) {
  accepts<DataError>([&] {
    RunReader reader(file.path(), 1 << 12);
    std::size_t bytes = 0;
    for (std::size_t slice = 0; slice < kSlices; ++slice) {
      reader.begin(slice);
      for (RatedText text; reader.next(text);) {
        require(!text.ratings.empty());
        const bool once = text.ratings.size() == 1 && text.ratings[0].count == 1;
        bytes +=
            kRecordHead + text.text.size() + (once ? 0 : text.ratings.size() * sizeof(RatingCount));
      }
    }
    // One rating may also be written as several would be.
    require(bytes <= records && (records - bytes) % sizeof(RatingCount) == 0);
  });
}

void check_numbered(const BytesFile& file, std::size_t all) {
  accepts<DataError>([&] {
    const NumberedRows rows = read_numbered(file.path());
    std::size_t bytes = 8 * (3 + rows.ids.size()) + rows.labels.size();
    for (const std::string& chunk : rows.ids) bytes += chunk.size();
    require(bytes == all);
  });
}

void check_group(const BytesFile& file, std::string_view all) {
  accepts<DataError>([&] {
    GroupReader reader(file.path());
    std::uint64_t rows = 0;
    std::uint64_t bytes = 0;
    for (GroupedReview review; reader.next(review); ++rows) {
      require(review.label <= 1);
      bytes += 4 + review.words.size_bytes();
    }
    require(rows == reader.rows());
    require(rows == 0 || bytes == number_at<std::uint64_t>(all, all.size() - 16));
  });
}

// What follows the records of a file of slices: they are all of one, chosen by `slice`. The size
// of a record is in its head, behind eight bytes of a text and twelve of a word.
std::string tail_behind(std::string_view records, bool words, std::size_t slice) {
  SliceTail tail;
  std::fill(tail.begins.begin() + static_cast<std::ptrdiff_t>(slice) + 1, tail.begins.end(),
            records.size());
  std::memcpy(&tail.magic, words ? "PACEWRD1" : "PACERUN1", sizeof tail.magic);
  while (records.size() >= kRecordHead) {
    std::size_t bytes = kRecordHead + number_at<std::uint32_t>(records, words ? 12 : 8);
    if (!words) bytes += number_at<std::uint16_t>(records, 12) * sizeof(RatingCount);
    if (bytes > records.size()) break;
    tail.checksums[slice] += checksum_of_record(records.substr(0, bytes));
    records.remove_prefix(bytes);
  }
  return {reinterpret_cast<const char*>(&tail), sizeof tail};
}

// Of numbered rows the checksum is the first number; then come how many parts there are, the bytes
// of each, and the parts.
void seal_numbered(std::string& content) {
  if (content.size() < 16) return;
  const auto parts = number_at<std::uint64_t>(content, 8);
  if (parts > (content.size() - 16) / 8) return;
  std::size_t at = 16 + 8 * parts;
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < parts; ++i) {
    const auto bytes = number_at<std::uint64_t>(content, 16 + 8 * i);
    if (bytes > content.size() - at) return;
    sum = i == 0 ? XXH3_64bits(content.data() + at, bytes)
                 : XXH3_64bits_withSeed(content.data() + at, bytes, sum);
    at += bytes;
  }
  content.replace(0, 8, as_bytes_of(sum));
}

// Rows as they are, a mark, and the end of a file.
std::string group_of(std::string_view rows) {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  for (std::string_view left = rows; left.size() >= 4 && count < 1024; ++count) {
    const std::size_t bytes = 4 + std::size_t{number_at<std::uint32_t>(left, 0) / 2} * 4;
    if (bytes > left.size()) break;
    sum += checksum_of_record(left.substr(0, bytes));
    left.remove_prefix(bytes);
  }
  std::string mark = count > 0 ? as_bytes_of(0) + as_bytes_of(sum) : "";
  return std::string(rows) + mark + as_bytes_of(count) + as_bytes_of(rows.size()) + "PACEGRP4";
}

// The first byte chooses what the bytes are, and whether they are made to fit.
void run(FuzzBytes bytes) {
  const std::uint8_t choice = take_byte(bytes);
  const int kind = choice % 4;
  const bool fitted = choice / 4 % 4 != 0;
  std::string content(as_text(bytes));
  const std::size_t records = content.size();
  if (fitted && kind < 2) content += tail_behind(content, kind == 0, choice / 16);
  if (fitted && kind == 2) seal_numbered(content);
  if (fitted && kind == 3) content = group_of(content);
  const BytesFile file({reinterpret_cast<const std::uint8_t*>(content.data()), content.size()});
  const std::size_t tail = std::min(content.size(), sizeof(SliceTail));
  if (kind == 0) check_list(file, fitted ? records : content.size() - tail);
  if (kind == 1) check_run(file, fitted ? records : content.size() - tail);
  if (kind == 2) check_numbered(file, content.size());
  if (kind == 3) check_group(file, content);
}

}  // namespace word_list_fuzzer

const FuzzTarget kWordListFuzzer{"word_list", word_list_fuzzer::run};

}  // namespace paceline
