// Blocks of prepared reviews that stay decoded for a while: those that were asked for last.
//
// Any number of threads. A block is decoded by one of them at a time, outside the lock. What
// decoding throws goes to the one who decodes; the next to ask tries again.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "data/prepared_block.h"

namespace paceline {

class PreparedCache {
 public:
  using Block = std::shared_ptr<const PreparedBlock>;
  using Decode = std::function<PreparedBlock(std::uint64_t block)>;

  // Keeps blocks of at most so many rows together, or one that has more.
  PreparedCache(Decode decode, std::uint64_t most_rows);

  // Decodes it if it must; nothing while another thread decodes it.
  Block find(std::uint64_t block);
  // The same, but waits for the other thread.
  Block wait(std::uint64_t block);

  std::uint64_t rows() const;     // kept now
  std::uint64_t decoded() const;  // blocks, so far

 private:
  struct Entry {
    Block block;  // none: it is being decoded
    std::list<std::uint64_t>::iterator turn;
  };
  void keep(std::uint64_t number, const Block& block);

  const Decode decode_;
  const std::uint64_t most_rows_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable done_;
  std::unordered_map<std::uint64_t, Entry> entries_;
  std::list<std::uint64_t> turns_;  // blocks that are kept; the last is the first to go
  std::uint64_t rows_ = 0;
  std::uint64_t decoded_ = 0;
};

}  // namespace paceline
