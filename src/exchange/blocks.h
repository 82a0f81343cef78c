// Which blocks of some floats matter: those of a gradient that are not zero, or those of
// parameters that a step has changed.
//
// A batch touches few rows of an embedding. Only these have a gradient, and only these change,
// so only their blocks need travel (codec.h). Nobody has to say what is an embedding: that
// most blocks do not matter is seen by looking at a few of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace paceline {

inline constexpr std::size_t kBlockFloats = 32;  // the last block may be shorter

class BlockSet {
 public:
  explicit BlockSet(std::size_t floats);

  std::size_t blocks() const { return blocks_; }
  std::size_t count() const { return count_; }  // of those in it
  void insert(std::size_t block);
  bool contains(std::size_t block) const { return (bits_[block / 64] >> block % 64 & 1) != 0; }
  std::span<const std::uint64_t> bits() const { return bits_; }

 private:
  std::size_t blocks_;
  std::size_t count_ = 0;
  std::vector<std::uint64_t> bits_;
};

// Nothing when these are so many that all may as well travel. Compares bits: a NaN is itself,
// and −0 is not zero.
std::optional<BlockSet> nonzero_blocks(std::span<const float> values);
std::optional<BlockSet> changed_blocks(std::span<const float> before, std::span<const float> after);

// When each block was changed last.
class BlockHistory {
 public:
  void start(std::uint64_t version);
  void change(std::uint64_t version, std::span<const float> before, std::span<const float> after);

  // Of `floats` values, those changed after `version`; nothing when these are too many.
  std::optional<BlockSet> since(std::uint64_t version, std::size_t floats) const;

 private:
  std::uint64_t all_ = 0;              // the last version that changed too many to remember them
  std::vector<std::uint64_t> blocks_;  // for each: the last version that changed it, after all_
};

}  // namespace paceline
