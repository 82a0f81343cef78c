// Any bytes as a cache of rows, and as the text that says what one was made of: a DataError, or as
// many rows as it says, each of which lies in the file, and keys that a table has, whichever way
// they are read.
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "data/sparse/row_cache.h"
#include "data/sparse/row_origin.h"
#include "data/sparse/rows_dataset.h"
#include "fuzz/fuzz_target.h"

namespace paceline {
namespace row_cache_fuzzer {

// Reads all words of a row, so that a sanitizer sees those that are none of the file.
void check_row(const std::uint32_t* words) {
  const RowView row = row_at(words);
  require(row.values.size() <= row.keys.size());
  volatile std::uint32_t sum = 0;
  sum = std::accumulate(words, words + row_words(row.keys.size(), row.values.size()), sum);
}

// The first rows as training reads them: all keys are within a table of 2^bits rows and one more,
// or places among those that are touched.
void check_keys(const std::shared_ptr<const RowCache>& cache) {
  constexpr std::uint64_t kMost = 300;  // of two blocks
  std::vector<std::uint64_t> examples(std::min(cache->info().rows, kMost));
  std::iota(examples.begin(), examples.end(), 0);
  const Key largest = Key{1} << cache->info().bits;
  for (const RowKeys kind : {RowKeys::kThemselves, RowKeys::kPlaces}) {
    Batch batch;
    make_rows_dataset(cache, 0, "fuzzed", kind)->read(examples, batch);
    require(std::ranges::is_sorted(batch.touched, std::less_equal<>()));
    require(batch.touched.empty() || batch.touched.back() <= largest);
    for (const std::uint8_t* row : batch.rows) {
      for (const Key key : row_at(reinterpret_cast<const std::uint32_t*>(row)).keys) {
        require(kind == RowKeys::kThemselves ? key <= largest : key < batch.touched.size());
      }
    }
  }
}

void run(FuzzBytes bytes) {
  const BytesFile file(bytes);
  accepts<DataError>([&] {
    const auto cache = std::make_shared<const RowCache>(file.path());
    require(begins_as_row_cache(file.path()));
    require(cache->info().rows <= bytes.size());
    for (std::uint64_t i = 0; i < cache->info().rows; ++i) check_row(cache->row(i));
    check_keys(cache);
    parse_origin(cache->info().source);
  });
  parse_origin(as_text(bytes));
}

// The head, and the checksums at the end and of the blocks it tells of.
void seal(std::span<std::uint8_t> data) {
  struct Foot {
    std::uint64_t tail, blocks, hot, text, checksum;
  } foot{};
  struct Entry {
    std::uint64_t offset, bytes, checksum;
  } entry{};
  constexpr char kHead[] = "PACEROWS\1\0\0\0\4\3\2\1";
  if (data.size() < sizeof kHead - 1 + sizeof foot) return;
  std::memcpy(data.data(), kHead, sizeof kHead - 1);
  const std::size_t foot_at = data.size() - sizeof foot;
  std::memcpy(&foot, data.data() + foot_at, sizeof foot);
  if (foot.tail > foot_at) return;
  for (std::uint64_t at = foot.tail; foot.blocks > 0 && foot_at - at >= sizeof entry;
       at += sizeof entry, --foot.blocks) {
    std::memcpy(&entry, data.data() + at, sizeof entry);
    if (entry.offset > data.size() || entry.bytes > data.size() - entry.offset) continue;
    entry.checksum = XXH3_64bits(data.data() + entry.offset, entry.bytes);
    std::memcpy(data.data() + at, &entry, sizeof entry);
  }
  const std::uint64_t sum = XXH3_64bits(data.data() + foot.tail, foot_at - foot.tail);
  std::memcpy(data.data() + data.size() - sizeof sum, &sum, sizeof sum);
}

}  // namespace row_cache_fuzzer

const FuzzTarget kRowCacheFuzzer{"row_cache", row_cache_fuzzer::run, row_cache_fuzzer::seal};

}  // namespace paceline
