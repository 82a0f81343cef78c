#include "exchange/blocks.h"

#include <algorithm>
#include <cstring>

namespace paceline {
namespace {

std::size_t blocks_of(std::size_t floats) {
  return (floats + kBlockFloats - 1) / kBlockFloats;
}

bool too_many(std::size_t count, std::size_t blocks) {
  return 2 * count > blocks;
}

// Asks matters(first float, floats) of every block, after a look at some of them.
template <typename Matters>
std::optional<BlockSet> choose(std::size_t floats, const Matters& matters) {
  constexpr std::size_t kLooks = 64;
  const auto ask = [&](std::size_t block) {
    const std::size_t first = block * kBlockFloats;
    return matters(first, std::min(kBlockFloats, floats - first));
  };
  BlockSet chosen(floats);
  const std::size_t looks = std::min(kLooks, chosen.blocks());
  std::size_t seen = 0;
  for (std::size_t i = 0; i < looks; ++i) seen += ask(i * chosen.blocks() / looks) ? 1 : 0;
  if (too_many(seen, looks)) return std::nullopt;
  for (std::size_t block = 0; block < chosen.blocks(); ++block) {
    if (ask(block)) chosen.insert(block);
  }
  if (too_many(chosen.count(), chosen.blocks())) return std::nullopt;
  return chosen;
}

}  // namespace

BlockSet::BlockSet(std::size_t floats) : blocks_(blocks_of(floats)), bits_((blocks_ + 63) / 64) {}

void BlockSet::insert(std::size_t block) {
  if (contains(block)) return;
  bits_[block / 64] |= std::uint64_t{1} << block % 64;
  ++count_;
}

std::optional<BlockSet> nonzero_blocks(std::span<const float> values) {
  static constexpr float kZeros[kBlockFloats] = {};
  return choose(values.size(), [&](std::size_t first, std::size_t floats) {
    return std::memcmp(values.data() + first, kZeros, floats * sizeof(float)) != 0;
  });
}

std::optional<BlockSet> changed_blocks(std::span<const float> before,
                                       std::span<const float> after) {
  return choose(after.size(), [&](std::size_t first, std::size_t floats) {
    return std::memcmp(before.data() + first, after.data() + first, floats * sizeof(float)) != 0;
  });
}

void BlockHistory::start(std::uint64_t version) {
  all_ = version;
  blocks_.clear();
}

void BlockHistory::change(std::uint64_t version, std::span<const float> before,
                          std::span<const float> after) {
  const std::optional<BlockSet> changed = changed_blocks(before, after);
  if (!changed) return start(version);
  blocks_.resize(changed->blocks());
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    if (changed->contains(block)) blocks_[block] = version;
  }
}

std::optional<BlockSet> BlockHistory::since(std::uint64_t version, std::size_t floats) const {
  if (version < all_) return std::nullopt;
  BlockSet changed(floats);
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    if (blocks_[block] > version) changed.insert(block);
  }
  if (too_many(changed.count(), changed.blocks())) return std::nullopt;
  return changed;
}

}  // namespace paceline
