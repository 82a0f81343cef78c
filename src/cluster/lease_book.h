// Asynchronous modes: which steps of the open epoch are given to which worker, and which
// steps of the run are done. No lease is given beyond the epoch until it has been cut.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "data/share.h"
#include "exchange/coverage.h"

namespace paceline {

class LeaseBook {
 public:
  // `done` of the run's `steps` are done; a worker holds at most `block` at a time.
  LeaseBook(const Grid& grid, RangeSet done, std::uint64_t steps, std::uint64_t block);

  // Steps for one of `workers` that has little left; none when it has enough, or the epoch
  // has no more. Blocks shrink towards the end of the epoch, so that all finish it together.
  std::vector<std::uint64_t> grant(std::uint32_t worker, std::uint64_t workers);
  void commit(std::uint32_t worker, std::uint64_t step);
  void give_back(std::uint32_t worker);  // all it holds: it is lost

  bool drained() const { return done_.first_missing() >= epoch_end_; }  // the epoch is done
  std::uint64_t epoch_end() const { return epoch_end_; }
  void next_epoch();

  const RangeSet& done() const { return done_; }
  void replace_done(RangeSet done) { done_ = std::move(done); }
  std::uint64_t examples_done() const;

 private:
  Grid grid_;
  RangeSet done_;
  std::uint64_t steps_;
  std::uint64_t block_;
  std::vector<std::uint64_t> returned_;
  std::uint64_t next_;                                     // never given out so far
  std::map<std::uint32_t, std::set<std::uint64_t>> held_;  // by worker
  std::uint64_t epoch_end_;
};

}  // namespace paceline
