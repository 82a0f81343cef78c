// The worker's exchange with parameter servers: carries out what its state machine
// decides, over links.
//
// The training thread calls the Exchange methods and, inside them, runs the loop that
// drives the links: no hand-over between threads on the way of a gradient. With large models
// another thread runs it meanwhile (pump.h). The thread that hears the chief calls told(),
// which only touches the state machine.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "base/clock.h"
#include "exchange/chunks.h"
#include "exchange/codec.h"
#include "exchange/exchange.h"
#include "exchange/options.h"
#include "exchange/ps/connection.h"
#include "exchange/ps/pump.h"
#include "exchange/ps/server.h"
#include "exchange/ps/worker_core.h"

namespace paceline {

struct PsClientOptions {
  WorkerCore::Options core;
  StepRules rules;
  WireFormat wire = WireFormat::kFloat;  // of pushes and pulls
  Duration deadline = std::chrono::seconds(60);
  std::string name;
  bool pumped = false;  // sends and receives while the training thread computes
};

// Whether a model is so large that its gradient is worth a thread.
inline bool wants_pump(const ChunkMap& map) {
  return map.floats() * sizeof(float) >= std::size_t{1} << 20;
}

class PsClient final : public Exchange {
 public:
  using TellChief = std::function<void(ChiefWord)>;  // from any thread
  PsClient(Loop& loop, const ChunkMap& map, const PsClientOptions& options, PsAddress address,
           TellChief tell);
  ~PsClient() override;

  // PLAN, PREPARE, LEASE, STOP; from any thread.
  void told(wire::Type type, std::string_view meta);
  // Makes every wait of the training thread throw CommError(reason); from any thread.
  void abort(const std::string& reason);

  std::optional<Share> next() override;
  std::optional<Share> after(const Share& share) const override;
  std::span<const float> parameters() const override { return parameters_.as_floats(); }
  std::span<float> gradient() override { return gradient_->as_floats(); }
  void begin(double weight) override { contribution_ = {weight, 0, 0, 0, 1}; }
  void await(Range floats) override;
  void ready(Range floats) override;
  void finish(const Loss& loss, const TreeSum* tree) override;

  // While it lives nothing arrives: parameters() stay as they are.
  Pump::Hold hold() { return Pump::Hold(pump_); }

  // Waits, not for long, until every server has acknowledged what was pushed.
  void drain();

  LinkCounters counters() const { return connection_->counters(); }  // from any thread
  struct Wait {
    std::string what;  // empty: it does not wait
    double seconds = 0;
  };
  Wait waiting() const;  // from any thread

 private:
  void carry_out(const WorkerCore::Actions& actions);
  void wait_for(const std::function<bool()>& done, const std::function<std::string()>& what);
  void push_gradient(std::uint32_t chunk);
  void push(std::uint32_t chunk, Encoded gradient);
  void install_staged();
  void install(std::uint32_t chunk);
  double own_scale(const Loss& loss) const;
  void throw_if_aborted() const;

  Loop& loop_;
  ChunkMap map_;
  PsClientOptions options_;
  TellChief tell_;
  std::unique_ptr<PsConnection> connection_;

  mutable std::mutex mutex_;  // guards the state machine
  WorkerCore core_;
  std::string abort_reason_;
  std::atomic<bool> aborted_ = false;

  Buffer parameters_;
  std::shared_ptr<Buffer> gradient_;
  std::vector<std::shared_ptr<Buffer>> gradients_;  // pool: one may still be on its way
  struct Staged {  // arrived, or still arriving, while the chunk was in use or to be decoded
    Buffer values;
    Codec codec;
    std::uint64_t since;                   // of blocks: the version they have changed
    std::optional<std::uint64_t> version;  // once it has arrived
  };
  std::map<std::uint32_t, Staged> staged_;  // by chunk
  std::vector<bool> aside_;                 // chunk → whether what arrives is staged
  Contribution contribution_;
  std::vector<std::uint32_t> ready_floats_;  // per chunk: floats announced so far
  std::vector<bool> sent_;
  std::string meta_;  // re-used

  mutable std::mutex wait_mutex_;
  std::string waiting_for_;
  TimePoint waiting_since_;

  Pump pump_;  // last: its thread uses all of the above
};

}  // namespace paceline
