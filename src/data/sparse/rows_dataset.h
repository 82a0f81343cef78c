// A cache of rows as a dataset: what a model reads that treats sparse data like any other.
//
// A row of a batch is the words of row.h, with the keys themselves in the place of hot ones.
#pragma once

#include <memory>
#include <string>

#include "data/dataset.h"
#include "data/sparse/row_cache.h"

namespace paceline {

std::unique_ptr<Dataset> make_rows_dataset(std::shared_ptr<const RowCache> rows,
                                           std::uint64_t limit, const std::string& name);
DatasetInfo rows_info(const RowCache& rows, std::uint64_t limit, const std::string& name);

}  // namespace paceline
