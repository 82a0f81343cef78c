// What a server holds, as its protocol sees it: numbers that contributions change and readers
// ask for. Dense chunks (shard.h) or a part of a table (row_shard.h). One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "exchange/blocks.h"
#include "exchange/ps/server_core.h"
#include "net/link.h"
#include "optim/sum.h"

namespace paceline {

// The gradient sum of some tiles; with --deterministic, of the nodes that they make up, one behind
// the other. Of a table, `rows` are those it belongs to.
struct Gradient {
  std::shared_ptr<Buffer> values;
  std::shared_ptr<const std::vector<std::uint32_t>> rows;
};

class Holding {
 public:
  virtual ~Holding() = default;

  // A contribution is about to arrive: memory for its floats. Throws FrameError.
  virtual Gradient landing(ClientId client, const wire::Push& push, Range tiles) = 0;
  // A read, before its answer is decided; `payload` is the message's.
  virtual void asked(ClientId, const wire::Pull&, std::span<const std::byte> /*payload*/) {}
  // Bytes that a read may come with.
  virtual std::size_t most_asked() const { return 0; }
  virtual void gone(ClientId) {}

  virtual void accumulate(std::uint32_t chunk, bool first, Range tiles, Gradient gradient) = 0;
  virtual bool is_finite(std::uint32_t chunk, std::uint64_t step) = 0;  // its sum
  virtual Norm measure(std::uint64_t step) = 0;                         // of the sums of all chunks
  // Applies the chunk's sum or, when given, the contribution itself.
  virtual void apply(const Apply& apply, const Gradient& gradient) = 0;

  virtual void pin(std::uint64_t version) = 0;
  virtual void release(std::uint64_t version) = 0;

  // Of a version that is kept; `changed` are the blocks of it that the reader lacks, when they
  // are known and few.
  struct Answer {
    Payload values;
    std::optional<BlockSet> changed;
  };
  virtual Answer answer(const SendParams& send) = 0;
};

}  // namespace paceline
