// Parameters + progress ↔ disk: by tensor name, checksummed, written atomically, and
// independent of how many servers or workers there were.
//
// A run directory has checkpoints/step-0000001200.ckpt (ten digits, or more as needed).
// The file's layout is in docs/checkpoint.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/activity.h"
#include "base/file/random_access_file.h"
#include "base/range.h"
#include "checkpoint/sections.h"
#include "checkpoint/value_source.h"
#include "model/model.h"

namespace paceline {

// All but the numbers.
struct CheckpointInfo {
  Layout layout;
  std::string model;           // "softmax"
  std::string optimizer;       // "sgd": whose state is stored
  std::uint64_t slots = 0;     // state vectors, each as long as the parameters
  std::uint64_t version = 0;   // steps applied
  std::vector<Range> applied;  // which, when they are not all those below `version`
  std::string steps;           // what a step is, in words: data, batch, order, seed
  std::uint64_t examples = 0;  // done so far, exactly
  std::uint64_t epoch = 0;     // complete epochs
  std::string config;          // the run's config.toml
};

// Writes the file through the callbacks, so that the numbers need not be in memory at
// once: fill(vector, floats, out) fills `out` with a range of vector 0 (the parameters) or
// 1 + s (state slot s). Makes the folder when it is missing, and removes what writers that
// died left in it; a second writer to a folder waits for the first. Throws DataError (a
// full disk, say), or whatever `fill` throws; then nothing remains, and a file that was
// there under this name stays.
using Fill = std::function<void(std::uint64_t vector, Range floats, std::span<float> out)>;
void write_checkpoint(const std::filesystem::path& path, const CheckpointInfo& info,
                      const Fill& fill);

// Reads ranges; every block is verified against its checksum before it is used. Throws
// DataError naming the file: missing, truncated, damaged (and where), another version. The
// constructor verifies all but the numbers. Several threads may read at once, but for one that has
// an `activity`: it counts every block.
class CheckpointReader final : public ValueSource {
 public:
  explicit CheckpointReader(std::filesystem::path path, Activity* activity = nullptr);

  const CheckpointInfo& info() const override { return info_; }
  void read(std::uint64_t vector, Range floats, std::span<float> out) const override;
  void verify() const;  // reads all of the numbers
  // Throws DataError naming the first tensor whose name or shape differs.
  void expect_layout(const Layout& layout) const;

 private:
  void read_block(std::uint64_t number, std::span<float> out) const;

  RandomAccessFile file_;
  Activity* activity_;
  CheckpointInfo info_;
  CheckpointSections sections_;
  std::vector<std::uint64_t> checksums_;  // one per block
};

std::filesystem::path checkpoint_path(const std::filesystem::path& run_dir, std::uint64_t version);
// Newest last; unreadable names are ignored.
std::vector<std::filesystem::path> list_checkpoints(const std::filesystem::path& run_dir);
// The newest checkpoint of a run directory (or the file itself, when `target` is one) that
// can be read, all of it; a damaged newest one is skipped with a warning in the log. Throws
// DataError. `activity` counts what is read.
std::filesystem::path find_checkpoint(const std::filesystem::path& target,
                                      Activity* activity = nullptr);
// Removes the oldest beyond `keep` (0: keeps all).
void prune_checkpoints(const std::filesystem::path& run_dir, std::uint64_t keep);

}  // namespace paceline
