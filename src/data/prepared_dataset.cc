#include "data/prepared_dataset.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/error.h"
#include "data/prepared_cache.h"
#include "data/prepared_split.h"
#include "data/text_source.h"

namespace paceline {
namespace {

// Tests read on from where they are, in several places at once.
constexpr std::uint64_t kBlocksOfTests = 64;

OrderOptions order_of(const TextOptions& options, Split split) {
  OrderOptions order = options.order;
  if (split == Split::kTest) order.kind = OrderKind::kSequential;
  return order;
}

DatasetInfo info_of_split(const PreparedSplit& split, const TextOptions& options,
                          std::uint64_t kept, const std::string& name) {
  const std::uint64_t examples = split.choice.examples();
  const std::uint64_t row = (split.rules.length + 1) * sizeof(std::int32_t) + 5;  // start, label
  return text_info(
      TextKind::kReviews, options, name, examples,
      std::min(kept, examples) * row + split.ids->table().rows / 8 + split.choice.memory_bytes());
}

class PreparedDataset final : public Dataset {
 public:
  PreparedDataset(PreparedSplit split, const TextOptions& options, std::uint64_t kept,
                  const std::string& name)
      : split_(std::move(split)),
        info_(info_of_split(split_, options, kept, name)),
        cache_([this](std::uint64_t block) { return decode(block); }, kept) {}

  void balance() {
    std::array<std::uint64_t, 2> counts{};
    for (std::uint64_t block = 0; block < split_.ids->table().blocks(); ++block) {
      for (const std::uint8_t label : labels_of(block)) ++counts[label];
    }
    weights_ = balanced_weights(counts, info_.name);
  }

  const DatasetInfo& info() const override { return info_; }

  void read(std::span<const std::uint64_t> examples, Batch& batch) const override {
    batch.rows.resize(examples.size());
    batch.labels.resize(examples.size());
    batch.width = info_.width;
    batch.storage.resize(examples.size() * info_.width);
    copy_rows(places_of(examples), batch);
    batch.weights.clear();
    batch.weight = 0;
    for (const std::int32_t label : batch.labels) {
      batch.weights.push_back(weights_[static_cast<std::size_t>(label)]);
      batch.weight += batch.weights.back();
    }
  }

 private:
  struct Wanted {
    std::uint64_t block = 0;
    std::uint32_t row = 0;
    std::uint32_t place = 0;  // in the batch
  };

  // Those of a block side by side, so that one block is held at a time.
  std::span<const Wanted> places_of(std::span<const std::uint64_t> examples) const {
    thread_local std::vector<Wanted> wanted;
    wanted.clear();
    for (const std::uint64_t example : examples) {
      PACELINE_CHECK(example < info_.examples);
      const RowChoice::Place place = split_.choice.place(example);
      wanted.push_back({place.block, place.row, static_cast<std::uint32_t>(wanted.size())});
    }
    std::ranges::sort(wanted, {}, &Wanted::block);
    return wanted;
  }

  // What other threads decode at the moment comes last, when they may be done.
  void copy_rows(std::span<const Wanted> wanted, Batch& batch) const {
    auto* out = reinterpret_cast<std::int32_t*>(batch.storage.data());
    std::vector<std::span<const Wanted>> later;
    while (!wanted.empty()) {
      const std::uint64_t block = wanted.front().block;
      const auto end =
          std::ranges::find_if(wanted, [block](const Wanted& one) { return one.block != block; });
      const auto group = wanted.first(static_cast<std::size_t>(end - wanted.begin()));
      wanted = wanted.subspan(group.size());
      if (const auto found = cache_.find(block)) {
        out = copy_rows_of(*found, group, out, batch);
      } else {
        later.push_back(group);
      }
    }
    for (const auto group : later) {
      out = copy_rows_of(*cache_.wait(group.front().block), group, out, batch);
    }
  }

  static std::int32_t* copy_rows_of(const PreparedBlock& block, std::span<const Wanted> group,
                                    std::int32_t* out, Batch& batch) {
    for (const Wanted& wanted : group) {
      batch.rows[wanted.place] = reinterpret_cast<const std::uint8_t*>(out);
      batch.labels[wanted.place] = block.labels[wanted.row];
      out = std::ranges::copy(block.row(wanted.row), out).out;
    }
    return out;
  }

  PreparedBlock decode(std::uint64_t block) const {
    PreparedBlock decoded = read_block(*split_.ids, block, split_.rules, split_.choice.bits(block));
    decoded.labels = labels_of(block);
    return decoded;
  }

  std::vector<std::uint8_t> labels_of(std::uint64_t block) const {
    const Range rows = split_.ids->table().rows_of(block);
    const auto chosen = split_.choice.bits(block);
    std::vector<std::uint8_t> labels;
    for (std::uint64_t i = 0; i < rows.size(); ++i) {
      if (!chosen.empty() && ((chosen[i / 64] >> (i % 64)) & 1) == 0) continue;
      labels.push_back(split_.labels[rows.begin + i] ? 1 : 0);
    }
    return labels;
  }

  PreparedSplit split_;
  DatasetInfo info_;
  std::array<float, 2> weights_ = {1, 1};  // of the labels
  mutable PreparedCache cache_;
};

}  // namespace

std::uint64_t rows_to_keep(const OrderOptions& order, const IdTable& table) {
  switch (order.kind) {
    case OrderKind::kFull:
      return table.rows;
    case OrderKind::kSequential:
      return kBlocksOfTests * table.block_rows;
    case OrderKind::kBlocks:
      break;
  }
  // Blocks of examples need not lie as those of the file do: each may begin in one more.
  const std::uint64_t block = std::min(order.block, table.rows);
  const std::uint64_t window =
      std::min(order.window, table.rows / std::max<std::uint64_t>(1, block) + 1);
  return std::min(table.rows, 2 * window * (block + table.block_rows));
}

std::unique_ptr<Dataset> open_prepared(const TextOptions& options, Split split, std::uint64_t limit,
                                       const std::string& name) {
  PreparedSplit examples = open_split(options, split, limit, WithLabels::kYes);
  const std::uint64_t kept = rows_to_keep(order_of(options, split), examples.ids->table());
  auto dataset = std::make_unique<PreparedDataset>(std::move(examples), options, kept, name);
  if (options.balanced && split == Split::kTrain) dataset->balance();
  return dataset;
}

DatasetInfo estimate_prepared(const TextOptions& options, Split split, std::uint64_t limit,
                              const std::string& name) {
  const PreparedSplit examples = open_split(options, split, limit, WithLabels::kNo);
  return info_of_split(examples, options,
                       rows_to_keep(order_of(options, split), examples.ids->table()), name);
}

}  // namespace paceline
