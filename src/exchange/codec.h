// Floats on their way between processes: of 32 bits or of 16, all of them or some blocks.
//
// Some blocks are a bit for each block, in words of 64 bits, and then the blocks whose bit is
// set. What stands in the places of the others, zeros or an older version, the receiver knows.
#pragma once

#include <cstddef>
#include <span>

#include "exchange/blocks.h"
#include "exchange/options.h"
#include "net/frame.h"
#include "net/link.h"

namespace paceline {

struct Encoded {
  Codec codec = Codec::kRaw;
  Payload payload;
};

// `values` are floats; `blocks`, if any, are the ones to send. All floats of 32 bits travel as
// they lie.
Encoded encode(Payload values, WireFormat format, const std::optional<BlockSet>& blocks);

bool has_blocks(Codec codec);  // and not all of them

// Whether this many bytes can be so many floats.
bool fits(Codec codec, std::uint64_t bytes, std::size_t floats);

// Writes to `into` what came; leaves blocks that did not come as they are. `from` is aligned.
// Throws FrameError.
void decode(Codec codec, std::span<const std::byte> from, std::span<float> into);

}  // namespace paceline
