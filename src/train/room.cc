#include "train/room.h"

#include <algorithm>

#include "base/error.h"
#include "base/units.h"

namespace paceline {
namespace {

// That lie side by side at the most: a new one is complete before the oldest goes.
std::uint64_t most_at_once(const RunConfig& config) {
  const std::uint64_t every = config.checkpoint_every;
  const std::uint64_t written = every > 0 ? (config.epochs + every - 1) / every : 1;
  const std::uint64_t kept = config.keep_checkpoints;
  return std::max<std::uint64_t>(1, kept == 0 ? written : std::min(written, kept + 1));
}

}  // namespace

std::uint64_t checkpoint_bytes(const RunConfig& config, const Workload& workload) {
  return workload.chunks.floats() * sizeof(float) * (1 + Optimizer(config.optimizer).slots());
}

std::string check_room(const RunConfig& config, std::uint64_t checkpoint, std::uint64_t room) {
  if (room < checkpoint) {
    throw DataError(
        "{} has room for {}, and a checkpoint of this run takes {}: make room, or choose a "
        "--run-dir on another disk",
        config.run_dir.string(), format_bytes(room), format_bytes(checkpoint));
  }
  const std::uint64_t most = most_at_once(config);
  // A run that goes on has some of them already.
  if (config.resume == config.run_dir || room / checkpoint >= most) return {};
  return fmt::format(
      "{} has room for {}, and the checkpoints of this run take up to {} ({} of {}): make room, "
      "lower --keep-checkpoints or raise --checkpoint-every",
      config.run_dir.string(), format_bytes(room), format_bytes(most * checkpoint), most,
      format_bytes(checkpoint));
}

}  // namespace paceline
