#include "sim/replay.h"

namespace paceline::sim {

void Replay::start(std::uint32_t chunks, std::uint64_t version, Word word) {
  chunks_.assign(chunks, {{version, word}});
}

Word Replay::apply(std::uint32_t chunk, const Share& share, const Versions& from) {
  Words params;
  for (std::size_t i = 0; i < from.size(); ++i) params.push_back(chunks_[i].at(from[i]));
  const auto [version, before] = *chunks_[chunk].rbegin();
  const Word sum = step_sum(params, share.step, share.tiles.size(), chunk, false);
  return chunks_[chunk][version + 1] = applied(before, sum);
}

}  // namespace paceline::sim
