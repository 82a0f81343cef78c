#include "exchange/codec.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include "base/buffer.h"
#include "optim/bf16.h"

namespace paceline {
namespace {

bool has_halves(Codec codec) {
  return codec == Codec::kBf16 || codec == Codec::kBf16Blocks;
}

std::size_t bytes_each(Codec codec) {
  return has_halves(codec) ? sizeof(Bf16) : sizeof(float);
}

std::size_t words_of(std::size_t floats) {
  return BlockSet(floats).bits().size();
}

// Calls work(first float, floats) for the blocks whose bits are set.
template <typename Work>
void for_blocks(std::span<const std::uint64_t> bits, std::size_t floats, const Work& work) {
  for (std::size_t i = 0; i < bits.size(); ++i) {
    for (std::uint64_t word = bits[i]; word != 0; word &= word - 1) {
      const std::size_t first =
          (64 * i + static_cast<std::size_t>(std::countr_zero(word))) * kBlockFloats;
      if (first >= floats) throw FrameError("a block beyond the end of its chunk");
      work(first, std::min(kBlockFloats, floats - first));
    }
  }
}

std::byte* write(Codec codec, std::span<const float> floats, std::byte* out) {
  if (has_halves(codec)) {
    to_bf16(floats, {reinterpret_cast<Bf16*>(out), floats.size()});
  } else {
    std::memcpy(out, floats.data(), floats.size_bytes());
  }
  return out + floats.size() * bytes_each(codec);
}

const std::byte* read(Codec codec, const std::byte* from, std::span<float> floats) {
  if (has_halves(codec)) {
    from_bf16({reinterpret_cast<const Bf16*>(from), floats.size()}, floats);
  } else {
    std::memcpy(floats.data(), from, floats.size_bytes());
  }
  return from + floats.size() * bytes_each(codec);
}

std::size_t bytes_of_blocks(Codec codec, std::span<const std::uint64_t> bits, std::size_t floats) {
  std::size_t sent = 0;
  for_blocks(bits, floats, [&](std::size_t, std::size_t count) { sent += count; });
  return bits.size_bytes() + sent * bytes_each(codec);
}

}  // namespace

bool has_blocks(Codec codec) {
  return codec == Codec::kBlocks || codec == Codec::kBf16Blocks;
}

Encoded encode(Payload values, WireFormat format, const std::optional<BlockSet>& blocks) {
  const bool halves = format == WireFormat::kBf16;
  if (!halves && !blocks) return {Codec::kRaw, std::move(values)};
  const std::span floats(reinterpret_cast<const float*>(values.bytes.data()),
                         values.bytes.size() / sizeof(float));
  if (!blocks) {
    auto packed = std::make_shared<Buffer>(floats.size() * sizeof(Bf16));
    write(Codec::kBf16, floats, packed->data());
    return {Codec::kBf16, {packed->bytes(), packed}};
  }
  const Codec codec = halves ? Codec::kBf16Blocks : Codec::kBlocks;
  const auto bits = blocks->bits();
  auto packed = std::make_shared<Buffer>(bytes_of_blocks(codec, bits, floats.size()));
  std::memcpy(packed->data(), bits.data(), bits.size_bytes());
  std::byte* out = packed->data() + bits.size_bytes();
  for_blocks(bits, floats.size(), [&](std::size_t first, std::size_t count) {
    out = write(codec, floats.subspan(first, count), out);
  });
  return {codec, {packed->bytes(), packed}};
}

bool fits(Codec codec, std::uint64_t bytes, std::size_t floats) {
  const std::size_t all = floats * bytes_each(codec);
  if (!has_blocks(codec)) return bytes == all;
  const std::size_t bits = words_of(floats) * sizeof(std::uint64_t);
  return bytes >= bits && bytes <= bits + all;
}

void decode(Codec codec, std::span<const std::byte> from, std::span<float> into) {
  if (!fits(codec, from.size(), into.size())) throw FrameError("floats of the wrong size");
  if (!has_blocks(codec)) {
    read(codec, from.data(), into);
    return;
  }
  const std::span bits(reinterpret_cast<const std::uint64_t*>(from.data()), words_of(into.size()));
  if (bytes_of_blocks(codec, bits, into.size()) != from.size()) {
    throw FrameError("blocks of the wrong size");
  }
  const std::byte* next = from.data() + bits.size_bytes();
  for_blocks(bits, into.size(), [&](std::size_t first, std::size_t count) {
    next = read(codec, next, into.subspan(first, count));
  });
}

}  // namespace paceline
