// The examples of a split of prepared reviews: which part of which file, and which of its rows.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "data/dataset.h"
#include "data/prepared_block.h"
#include "data/row_choice.h"
#include "data/text.h"

namespace paceline {

struct PreparedSplit {
  std::unique_ptr<PreparedIds> ids;
  RowRules rules;
  RowChoice choice;
  std::vector<bool> labels;  // of all rows; empty when they are not asked for
};

enum class WithLabels { kNo, kYes };

// Throws DataError when the file is not as it should be or does not fit the options.
PreparedSplit open_split(const TextOptions& options, Split split, std::uint64_t limit,
                         WithLabels with_labels);

}  // namespace paceline
