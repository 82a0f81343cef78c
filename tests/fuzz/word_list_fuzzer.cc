// Any bytes as the files that preparing leaves between its steps: a DataError, or records that lie
// in them.
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "fuzz/fuzz_target.h"
#include "prepare/groups.h"
#include "prepare/number_step.h"
#include "prepare/runs.h"
#include "prepare/tasks.h"
#include "prepare/word_lists.h"

namespace paceline {
namespace {

void check_list(const BytesFile& file) {
  accepts<DataError>([&] {
    std::size_t bytes = 0;
    for_each_listed(file.path(), [&](const ListedWord& word) { bytes += word.word.size(); });
    const WordTotals totals = merge_lists({file.path()}, {.most = 10}, StopFlag(false));
    require(totals.words.size() <= 10 && totals.different >= totals.words.size());
  });
}

void check_run(const BytesFile& file) {
  accepts<DataError>([&] {
    RunReader reader(file.path(), 1 << 12);
    for (std::size_t slice = 0; slice < kSlices; ++slice) {
      reader.begin(slice);
      for (RatedText text; reader.next(text);) require(!text.ratings.empty());
    }
  });
}

void check_numbered(const BytesFile& file) {
  accepts<DataError>([&] { read_numbered(file.path()); });
}

void check_group(const BytesFile& file) {
  accepts<DataError>([&] {
    GroupReader reader(file.path());
    std::uint64_t rows = 0;
    for (GroupedReview review; reader.next(review); ++rows) require(review.label <= 1);
    require(rows == reader.rows());
  });
}

// As what follows the records of a file of slices: they are all of one, chosen by `slice`.
std::string tail_behind(std::size_t records, std::string_view magic, std::size_t slice) {
  SliceTail tail;
  std::fill(tail.begins.begin() + static_cast<std::ptrdiff_t>(slice) + 1, tail.begins.end(),
            records);
  std::memcpy(&tail.magic, magic.data(), sizeof tail.magic);
  return {reinterpret_cast<const char*>(&tail), sizeof tail};
}

// The first byte chooses what the bytes are, and whether the end of a file follows them.
void run(FuzzBytes bytes) {
  const std::uint8_t choice = take_byte(bytes);
  std::string content(as_text(bytes));
  if (choice / 4 % 4 != 0 && choice % 4 < 2) {
    content += tail_behind(content.size(), choice % 4 == 0 ? "PACEWRD1" : "PACERUN1", choice / 16);
  }
  const BytesFile file({reinterpret_cast<const std::uint8_t*>(content.data()), content.size()});
  if (choice % 4 == 0) check_list(file);
  if (choice % 4 == 1) check_run(file);
  if (choice % 4 == 2) check_numbered(file);
  if (choice % 4 == 3) check_group(file);
}

}  // namespace

const FuzzTarget kWordListFuzzer{"word_list", run};

}  // namespace paceline
