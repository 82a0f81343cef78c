// Any bytes as a pair of IDX files, plain or gzipped: a DataError, or images and labels that are
// what the files hold.
#include <algorithm>

#include "base/error.h"
#include "data/idx.h"
#include "fuzz/fuzz_target.h"

namespace paceline {
namespace {

void check(const Dataset& dataset, const DatasetInfo& estimate, std::uint64_t limit) {
  const DatasetInfo& info = dataset.info();
  require(info.examples > 0 && info.examples == estimate.examples);
  require(limit == 0 || info.examples <= limit);
}

// Two bytes: how many examples are kept, and where the labels begin, in eighths of the rest.
void run(FuzzBytes bytes) {
  const std::uint64_t limit = take_byte(bytes);
  const std::size_t cut = bytes.size() * (take_byte(bytes) % 9) / 8;
  const BytesFile images(bytes.first(std::min(cut, bytes.size())));
  const BytesFile labels(bytes.subspan(std::min(cut, bytes.size())));
  const IdxOptions options{.classes = 10, .limit = limit};
  const bool whole = accepts<DataError>([&] {
    check(*open_idx(images.path(), labels.path(), "fuzzed", options),
          estimate_idx(images.path(), "fuzzed", options), limit);
  });
  const bool alone = accepts<DataError>([&] {
    check(*open_idx_images(images.path(), options), estimate_idx(images.path(), "fuzzed", options),
          limit);
  });
  require(alone || !whole);
}

}  // namespace

const FuzzTarget kIdxFuzzer{"idx", run};

}  // namespace paceline
