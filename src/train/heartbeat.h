// What workers and the evaluator add to their heartbeats: how far they are, and what they could not
// read.
#pragma once

#include <cstddef>

#include "data/dataset.h"
#include "session/protocol.pb.h"
#include "train/loop.h"

namespace paceline {

// What a worker computes.
void add_figures(const LoopCounts& counts, wire::Heartbeat& beat);

// The files that a dataset could not read: each is told once, and so many at a time that a
// heartbeat stays small.
class UnreadableFiles {
 public:
  explicit UnreadableFiles(const Dataset& dataset) : dataset_(dataset) {}
  void tell(google::protobuf::RepeatedPtrField<std::string>& names);

 private:
  const Dataset& dataset_;
  std::size_t told_ = 0;
};

}  // namespace paceline
