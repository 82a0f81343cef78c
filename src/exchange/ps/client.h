// The worker's exchange of a flat vector with parameter servers, chunk by chunk.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/buffer.h"
#include "exchange/chunks.h"
#include "exchange/codec.h"
#include "exchange/ps/ps_exchange.h"

namespace paceline {

// Whether a model is so large that its gradient is worth a thread.
inline bool wants_pump(const ChunkMap& map) {
  return map.floats() * sizeof(float) >= std::size_t{1} << 20;
}

class PsClient final : public PsExchange {
 public:
  PsClient(Loop& loop, const ChunkMap& map, const PsClientOptions& options, PsAddress address,
           TellChief tell);
  ~PsClient() override { pump_.stop(); }

  std::optional<Share> next() override;
  std::span<const float> parameters() const override { return parameters_.as_floats(); }
  std::span<float> gradient() override { return gradient_->as_floats(); }
  void begin(double weight) override { contribution_ = {weight, 0, 0, 0, 1}; }
  void await(Range floats) override;
  void ready(Range floats) override;
  void finish(const Loss& loss, const TreeSum* tree) override;

 private:
  std::span<std::byte> place(const wire::Params& params, const FrameHeader& header) override;
  void arrived(const wire::Params& params, const FrameHeader& header) override;
  std::uint32_t server_of(std::uint32_t chunk) const override { return map_.server_of(chunk); }
  void push_gradient(std::uint32_t chunk);
  void push(std::uint32_t chunk, Encoded gradient);
  void take_aside(const TakeAside& take) override;
  void install_aside();

  ChunkMap map_;
  Buffer parameters_;
  std::shared_ptr<Buffer> gradient_;
  std::vector<std::shared_ptr<Buffer>> gradients_;  // pool: one may still be on its way
  struct Aside {  // arrived, or still arriving, while the chunk was in use; or to be decoded
    Buffer values;
    Codec codec;
  };
  std::map<std::uint32_t, Aside> aside_;     // by chunk
  std::vector<std::uint32_t> ready_floats_;  // per chunk: floats announced so far
  std::vector<bool> sent_;
};

}  // namespace paceline
