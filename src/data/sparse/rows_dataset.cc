#include "data/sparse/rows_dataset.h"

#include <algorithm>

#include "base/error.h"
#include "data/sparse/touched.h"

namespace paceline {
namespace {

class RowsDataset final : public Dataset {
 public:
  RowsDataset(std::shared_ptr<const RowCache> rows, std::uint64_t limit, const std::string& name,
              RowKeys keys)
      : rows_(std::move(rows)), keys_(keys), info_(rows_info(*rows_, limit, name)) {}

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
    thread_local TouchedKeys touched;
    if (keys_ == RowKeys::kPlaces) touched.begin(rows_->hot());
    for (std::size_t i = 0; i < examples.size(); ++i) {
      const std::uint32_t* from = rows_->row(examples[i]);
      const RowView row = row_at(from);
      batch.rows[i] = reinterpret_cast<const std::uint8_t*>(out);
      batch.labels[i] = row.label > 0 ? 1 : 0;
      out = std::copy_n(from, kRowHead, out);
      if (keys_ == RowKeys::kPlaces) {
        touched.number(row.keys, {out, row.keys.size()});
      } else {
        std::ranges::transform(row.keys, out, [this](Key key) { return resolved(key); });
      }
      out += row.keys.size();
      out = std::copy_n(from + kRowHead + row.keys.size(), row.values.size(), out);
    }
    batch.touched.clear();
    if (keys_ == RowKeys::kThemselves) return;
    touched.sort(batch.touched);
    for (const std::uint8_t* row : batch.rows) {
      auto* place = const_cast<std::uint32_t*>(reinterpret_cast<const std::uint32_t*>(row));
      touched.place({place + kRowHead, place[1]});
    }
  }

 private:
  Key resolved(Key key) const { return (key & kHotBit) != 0 ? rows_->hot()[key & ~kHotBit] : key; }

  std::shared_ptr<const RowCache> rows_;
  RowKeys keys_;
  DatasetInfo info_;
};

}  // namespace

DatasetInfo rows_info(std::uint32_t bits, std::uint64_t examples, const std::string& name) {
  DatasetInfo info;
  info.name = name;
  info.examples = examples;
  info.classes = 2;
  info.row_bits = bits;
  return info;
}

DatasetInfo rows_info(const RowCache& rows, std::uint64_t limit, const std::string& name) {
  const std::uint64_t all = rows.info().rows;
  return rows_info(rows.info().bits, limit == 0 ? all : std::min(limit, all), name);
}

std::unique_ptr<Dataset> make_rows_dataset(std::shared_ptr<const RowCache> rows,
                                           std::uint64_t limit, const std::string& name,
                                           RowKeys keys) {
  return std::make_unique<RowsDataset>(std::move(rows), limit, name, keys);
}

}  // namespace paceline
