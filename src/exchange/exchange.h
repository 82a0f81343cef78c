// Carries one worker's gradient out and brings its parameters up to date, piece by piece,
// so that both directions overlap with compute. One thread at a time.
//
//   while (const auto share = exchange.next()) {
//     exchange.begin(batch.weight);
//     … model.gradient(batch, exchange.parameters(), exchange.gradient(), exchange) …
//     exchange.finish(loss);
//   }
//
// The training loop knows no more than this, whether the parameters are in this process or
// on servers. Waiting throws CommError naming the peer that was waited for; it throws
// ShareSetAside when a more urgent share must be computed first (then ask next() again).
#pragma once

#include <optional>
#include <span>

#include "data/share.h"
#include "exchange/tree_sum.h"
#include "model/model.h"

namespace paceline {

struct ShareSetAside {};

class Exchange : public Flow {
 public:
  // The share to compute next; waits for it. Nothing: the run is over for this worker.
  virtual std::optional<Share> next() = 0;
  // What probably follows, for reading ahead.
  virtual std::optional<Share> after(const Share& share) const = 0;

  // Of tables: whether expect() is to be called before begin(), with the share and its batch, and
  // then with the one that probably follows, whose rows can be asked for before it is computed.
  virtual bool expects() const { return false; }
  virtual void expect(const Share&, const Batch&) {}

  // The share's batch is there; pieces of its gradient may leave before finish().
  virtual void begin(double weight) = 0;

  // Whether pieces come and go while the gradient is computed. If not, await() and ready() do
  // nothing, and need not be called.
  virtual bool streams() const { return true; }

  virtual std::span<const float> parameters() const = 0;  // await() what you read
  virtual std::span<float> gradient() = 0;  // of the current share; ready() what is final

  // All pieces of the current share are final. With --deterministic, `tree` has the share's
  // tile gradients and gradient() is not used.
  virtual void finish(const Loss& loss, const TreeSum* tree = nullptr) = 0;
};

}  // namespace paceline
