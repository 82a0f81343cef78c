// One server's numbers: its chunks in versions, the gradient sums of the open step, the
// optimizer's state.
//
// Every version of a chunk is a buffer of its own that nobody changes once it is
// published, so it can be sent while the next is computed; buffers are used again when
// the last reader lets go. A contribution arrives in a buffer of its own too: the first of
// a step becomes the sum, the others are added to it. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "data/share.h"
#include "exchange/blocks.h"
#include "exchange/chunks.h"
#include "exchange/options.h"
#include "exchange/ps/holding.h"
#include "exchange/tree_sum.h"
#include "net/link.h"
#include "optim/groups.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"
#include "optim/sum.h"

namespace paceline {

struct ShardOptions {
  OptimizerOptions optimizer;
  std::vector<GroupRange> groups;
  Grid grid;
  StepRules rules;
  bool deterministic = false;
  // So that the version before can be saved whole, where a run that ends may have to go back to it
  // (ServerCore::Options::may_go_back()): parameters of one version with the state of the next
  // would not go on like a run that was not stopped. Whether a step is complete everywhere is known
  // only when the next one is pushed, after it was applied; no update can be undone exactly, since
  // floats round; and to keep the gradient instead and compute the state later takes as much memory
  // for one state vector, and more time. So the state goes to a second buffer at every step: as
  // much memory again as the state has, and, of 25 million floats in memory, a step that is applied
  // in 16 ms takes 23 ms with Adam, and 14 ms becomes 17 ms with momentum. Without it the state is
  // updated in place unless someone holds it.
  bool keep_previous_state = false;
  bool whole_tables = false;  // all blocks travel, changed or not
};

class Shard final : public Holding {
 public:
  Shard(const ChunkMap& map, std::uint32_t server, const ShardOptions& options,
        const Schedule& schedule);

  std::size_t slots() const { return optimizer_.slots(); }
  // `state` has slots() vectors one behind the other, or is empty: zeros.
  void load(std::uint32_t chunk, std::uint64_t version, std::span<const float> values,
            std::span<const float> state);

  Gradient landing(ClientId client, const wire::Push& push, Range tiles) override;
  void accumulate(std::uint32_t chunk, bool first, Range tiles, Gradient gradient) override;
  bool is_finite(std::uint32_t chunk, std::uint64_t step) override;
  Norm measure(std::uint64_t step) override;
  void apply(const Apply& apply, const Gradient& gradient) override;
  void pin(std::uint64_t version) override;
  void release(std::uint64_t version) override;
  Answer answer(const SendParams& send) override;

  // The values (and state behind them) of a version that is kept. Throws FrameError where the
  // state is not: see state().
  Payload values(std::uint32_t chunk, std::uint64_t version, bool with_state) const;
  // The optimizer's state of the newest version or a pinned one; with keep_previous_state, of
  // the one before, too. It does not change while someone holds it. Throws FrameError.
  Payload state(std::uint32_t chunk, std::uint64_t version) const;
  // The blocks of the newest version that are not as they were in an older one; nothing when
  // they are many, or `version` is not the newest.
  std::optional<BlockSet> changed(std::uint32_t chunk, std::uint64_t version,
                                  std::uint64_t since) const;

 private:
  struct Version {
    std::uint64_t number = 0;
    std::shared_ptr<Buffer> values;
    std::shared_ptr<Buffer> state;
  };
  struct Chunk {
    Range floats;
    std::vector<GroupRange> groups;  // relative to the chunk
    Version current;
    Version previous;
    BlockHistory history;  // of the current version's values
    std::map<std::uint64_t, Version> pinned;
    std::shared_ptr<Buffer> sum;
    TreeSum tree{0};
    std::vector<std::shared_ptr<Buffer>> free_values;
    std::vector<std::shared_ptr<Buffer>> free_state;
  };

  std::size_t contribution_bytes(std::uint32_t chunk, Range tiles) const;
  std::span<const float> summed(Chunk& chunk, std::uint64_t step);
  const Version& find(const Chunk& chunk, std::uint64_t version) const;

  ShardOptions options_;
  Optimizer optimizer_;
  Schedule schedule_;
  std::map<std::uint32_t, Chunk> chunks_;
  // Of all chunks, so that the few in use stay in the cache.
  std::vector<std::shared_ptr<Buffer>> free_landings_;
};

}  // namespace paceline
