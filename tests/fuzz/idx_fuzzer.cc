// Any bytes as a pair of IDX files, plain or gzipped: a DataError, or images and labels that are
// what the files hold.
#include "base/error.h"
#include "data/idx.h"
#include "data/text_source.h"
#include "fuzz/fuzz_target.h"

namespace paceline {
namespace idx_fuzzer {

constexpr std::size_t kImagesHead = 16;  // bytes before the images
constexpr std::size_t kLabelsHead = 8;   // bytes before the labels

// `labels`: null for images alone, whose labels are 0.
void check(const Dataset& dataset, const DatasetInfo& estimate, std::uint64_t limit,
           const BytesFile& images, const BytesFile* labels) {
  const DatasetInfo& info = dataset.info();
  require(info.examples > 0 && info.examples == estimate.examples);
  require(limit == 0 || info.examples <= limit);
  require(info.width == estimate.width);
  const std::string pixels = read_all(images.path());
  const std::string classes = labels ? read_all(labels->path()) : "";
  require(limit != 0 || pixels.size() == kImagesHead + info.examples * info.width);
  for (std::uint64_t i = 0; i < info.examples; ++i) {
    Batch batch;
    dataset.read(std::span(&i, 1), batch);
    const auto* row = reinterpret_cast<const char*>(batch.rows.at(0));
    require(pixels.compare(kImagesHead + i * info.width, info.width, row, info.width) == 0);
    require(batch.labels.at(0) == (labels ? classes.at(kLabelsHead + i) : 0));
  }
}

// Two bytes: how many examples are kept, and where the labels begin, in eighths of the rest.
void run(FuzzBytes bytes) {
  const std::uint64_t limit = take_byte(bytes);
  const std::size_t eighths = take_byte(bytes) % 9;
  const std::size_t cut = bytes.size() * eighths / 8;
  const BytesFile images(bytes.first(cut));
  const BytesFile labels(bytes.subspan(cut));
  const IdxOptions options{.classes = 10, .limit = limit};
  const bool whole = accepts<DataError>([&] {
    check(*open_idx(images.path(), labels.path(), "fuzzed", options),
          estimate_idx(images.path(), "fuzzed", options), limit, images, &labels);
  });
  const bool alone = accepts<DataError>([&] {
    check(*open_idx_images(images.path(), options), estimate_idx(images.path(), "fuzzed", options),
          limit, images, nullptr);
  });
  require(alone || !whole);
}

}  // namespace idx_fuzzer

const FuzzTarget kIdxFuzzer{"idx", idx_fuzzer::run};

}  // namespace paceline
