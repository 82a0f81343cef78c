// Reads a whole version from all servers: what the evaluator tests and checkpoints keep.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "exchange/chunks.h"
#include "exchange/ps/connection.h"

namespace paceline {

class PsReader {
 public:
  // Connects before `deadline` has passed; then waits for the servers to answer, or until the loop
  // is stopped. Throws CommError.
  PsReader(Loop& loop, const ChunkMap& map, PsAddress address, Duration deadline);

  // Fills `values` with exactly `version`, and `state` (slots vectors, one behind the other,
  // or empty) with the optimizer's. Waits until it is there or the loop is stopped. Throws
  // CommError naming the server that is lost, was waited for or no longer has the version.
  void read(std::uint64_t version, std::span<float> values, std::span<float> state = {});

  LinkCounters counters() const { return connection_->counters(); }

 private:
  std::string owing() const;  // servers whose chunks are missing

  struct Arriving {
    Buffer payload;
    bool done = false;
  };
  ChunkMap map_;
  std::string name_;
  std::vector<Arriving> chunks_;
  std::uint64_t version_ = 0;  // that is being read
  std::uint64_t vectors_ = 1;  // values, and slots of state
  std::uint32_t arrived_ = 0;
  std::string refused_;
  std::unique_ptr<PsConnection> connection_;
};

}  // namespace paceline
