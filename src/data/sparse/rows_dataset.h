// A cache of rows as a dataset: what a model reads that treats sparse data like any other.
//
// A row of a batch is the words of row.h. In place of its keys, hot ones among them, are the keys
// themselves, or places in the list of all keys that the batch touches.
#pragma once

#include <memory>
#include <string>

#include "data/dataset.h"
#include "data/sparse/row_cache.h"

namespace paceline {

enum class RowKeys { kThemselves, kPlaces };

std::unique_ptr<Dataset> make_rows_dataset(std::shared_ptr<const RowCache> rows,
                                           std::uint64_t limit, const std::string& name,
                                           RowKeys keys = RowKeys::kThemselves);
DatasetInfo rows_info(std::uint32_t bits, std::uint64_t examples, const std::string& name);
DatasetInfo rows_info(const RowCache& rows, std::uint64_t limit, const std::string& name);

}  // namespace paceline
