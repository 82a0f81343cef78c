// Reads a table on all servers at a version that they keep: parts of it, for checkpoints, and what
// it says of test rows, without moving it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "exchange/ps/connection.h"
#include "exchange/row_deal.h"

namespace paceline {

class RowReader {
 public:
  // Connects before `deadline` has passed; then waits for the servers to answer, or until the loop
  // is stopped. Throws CommError.
  RowReader(Loop& loop, const RowDeal& deal, PsAddress address, Duration deadline);

  // All wait until the answers are there or the loop is stopped, and throw CommError naming the
  // server that is lost, was waited for or no longer has the version.
  // Of vector 0, the weights, or of what the optimizer keeps: the values of these keys.
  void read(std::uint64_t version, std::uint64_t vector, Range keys, std::span<float> out);
  // What these test rows score: the logarithm of the odds, or the value itself.
  void score(std::uint64_t version, Range tests, std::span<float> out);

  LinkCounters counters() const { return connection_->counters(); }

 private:
  void ask(wire::Pull pull);  // and wait for the answers

  RowDeal deal_;
  std::string name_;
  std::uint64_t ticket_ = 0;      // of the read under way
  std::vector<Buffer> arriving_;  // by server
  std::vector<Buffer> answers_;
  std::vector<bool> answered_;
  std::string refused_;
  std::unique_ptr<PsConnection> connection_;
};

}  // namespace paceline
