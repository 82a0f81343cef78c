// Prepared reviews as examples, read from their file as they are asked for.
//
// Blocks of the file are decoded when one of their rows is wanted. As many stay in memory as the
// order of the examples (TextOptions::order) needs for decoding each once an epoch: in `blocks`
// order those of two windows, since readers may be at the end of one and the start of the next;
// in `full` order all. What is read does not depend on that. Besides, there is a bit for each label
// and, where examples are only some of the rows, for each row.
//
// Opening reads every row where the test part must be chosen by hash. Throws DataError naming the
// file and what is wrong with it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "data/dataset.h"
#include "data/prepared_ids.h"
#include "data/text.h"

namespace paceline {

std::unique_ptr<Dataset> open_prepared(const TextOptions& options, Split split, std::uint64_t limit,
                                       const std::string& name);
DatasetInfo estimate_prepared(const TextOptions& options, Split split, std::uint64_t limit,
                              const std::string& name);

// How many rows of a table stay decoded.
std::uint64_t rows_to_keep(const OrderOptions& order, const IdTable& table);

}  // namespace paceline
