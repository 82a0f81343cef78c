#include "data/sparse/rows_dataset.h"

#include <algorithm>

#include "base/error.h"

namespace paceline {
namespace {

class RowsDataset final : public Dataset {
 public:
  RowsDataset(std::shared_ptr<const RowCache> rows, std::uint64_t limit, const std::string& name)
      : rows_(std::move(rows)), info_(rows_info(*rows_, limit, name)) {}

  const DatasetInfo& info() const override { return info_; }

  void read(std::span<const std::uint64_t> examples, Batch& batch) const override {
    std::size_t words = 0;
    for (const std::uint64_t example : examples) {
      PACELINE_CHECK(example < info_.examples);
      const RowView row = row_at(rows_->row(example));
      words += row_words(row.keys.size(), row.values.size());
    }
    if (batch.storage.size() < words * sizeof(Key)) batch.storage = Buffer(words * sizeof(Key));
    auto* out = reinterpret_cast<std::uint32_t*>(batch.storage.data());
    batch.rows.resize(examples.size());
    batch.labels.resize(examples.size());
    batch.weights.clear();
    batch.weight = static_cast<double>(examples.size());
    batch.width = 0;
    for (std::size_t i = 0; i < examples.size(); ++i) {
      const std::uint32_t* from = rows_->row(examples[i]);
      const RowView row = row_at(from);
      batch.rows[i] = reinterpret_cast<const std::uint8_t*>(out);
      batch.labels[i] = row.label > 0 ? 1 : 0;
      std::copy_n(from, row_words(row.keys.size(), row.values.size()), out);
      for (std::uint32_t* key = out + kRowHead; key < out + kRowHead + row.keys.size(); ++key) {
        if (*key & kHotBit) *key = rows_->hot()[*key & ~kHotBit];
      }
      out += row_words(row.keys.size(), row.values.size());
    }
  }

 private:
  std::shared_ptr<const RowCache> rows_;
  DatasetInfo info_;
};

}  // namespace

DatasetInfo rows_info(const RowCache& rows, std::uint64_t limit, const std::string& name) {
  DatasetInfo info;
  info.name = name;
  info.examples = limit == 0 ? rows.info().rows : std::min(limit, rows.info().rows);
  info.classes = 2;
  info.row_bits = rows.info().bits;
  return info;
}

std::unique_ptr<Dataset> make_rows_dataset(std::shared_ptr<const RowCache> rows,
                                           std::uint64_t limit, const std::string& name) {
  return std::make_unique<RowsDataset>(std::move(rows), limit, name);
}

}  // namespace paceline
