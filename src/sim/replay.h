// One process's account of an asynchronous run: what every version of every chunk must be,
// computed again from the versions that each contribution says it was computed from.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/words.h"

namespace paceline::sim {

using Versions = std::vector<std::uint64_t>;  // by chunk

class Replay {
 public:
  // Every chunk has `version`, which is `word`.
  void start(std::uint32_t chunks, std::uint64_t version, Word word);
  // The whole of `share.step` is applied to a chunk: what its next version must be.
  Word apply(std::uint32_t chunk, const Share& share, const Versions& from);

 private:
  std::vector<std::map<std::uint64_t, Word>> chunks_;  // by version
};

}  // namespace paceline::sim
