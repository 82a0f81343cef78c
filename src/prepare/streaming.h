// The two halves of grouping as programs of lines, as Hadoop Streaming runs them: what is written
// to standard output is a key, a tab, and a value; between the two somebody sorts by key.
//
//   map      raw reviews              →  clean text <tab> rating
//   reduce   such lines, sorted       →  clean text <tab> rating <tab> how often, a line per rating
//
// What reducers write is input of the format `grouped`; reducers may also be combiners.
#pragma once

#include <iosfwd>

#include "prepare/read_step.h"

namespace paceline {

// Both throw DataError, and Interrupted when `stop` was set. What they leave out is in the report.
ReadReport map_reviews(const std::vector<InputFile>& files, const PrepareSettings& settings,
                       const StopFlag& stop, std::ostream& out);
ReadReport reduce_reviews(const std::vector<InputFile>& files, const PrepareSettings& settings,
                          const StopFlag& stop, std::ostream& out);

// The report as counters: lines that Hadoop reads from standard error.
void write_counters(const ReadReport& report, std::ostream& err);

}  // namespace paceline
