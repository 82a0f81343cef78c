// What a worker's exchanges with parameter servers have in common: the state machine, the links,
// waiting with words for people, and the chief's messages.
//
// No wait ends by itself: a server may have good reasons to be slow. The chief sees whether anybody
// gets on, and ends what hangs (session/progress_watch.h); then abort() ends the waits.
//
// The training thread calls the Exchange methods and, inside them, runs the loop that
// drives the links: no hand-over between threads on the way of a gradient. Where there is much to
// carry another thread runs it meanwhile (pump.h). The thread that hears the chief calls told(),
// which only touches the state machine.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "exchange/exchange.h"
#include "exchange/options.h"
#include "exchange/ps/connection.h"
#include "exchange/ps/pump.h"
#include "exchange/ps/worker_core.h"
#include "session/message.h"

namespace paceline {

struct PsClientOptions {
  WorkerCore::Options core;
  StepRules rules;
  WireFormat wire = WireFormat::kFloat;          // of pushes and pulls
  Duration deadline = std::chrono::seconds(60);  // to connect
  std::string name;
  bool pumped = false;        // sends and receives while the training thread computes
  bool whole_tables = false;  // all blocks travel, zeros or not
};

class PsExchange : public Exchange {
 public:
  using TellChief = std::function<void(ChiefWord)>;  // from any thread
  ~PsExchange() override;

  // ASSIGNMENT, PREPARE, LEASE, STOP; from any thread.
  void told(wire::Type type, std::string_view meta);
  // Makes every wait of the training thread throw an Error that says the same, with the same exit
  // code; from any thread. The first counts.
  void abort(const Error& reason);

  std::optional<Share> next() override;
  std::optional<Share> after(const Share& share) const override;

  // While it lives nothing arrives: parameters() stay as they are.
  Pump::Hold hold() { return Pump::Hold(pump_); }

  // Waits until every server has acknowledged what was pushed, or dismiss() or abort() is called.
  void drain();
  void dismiss();  // the run is over; from any thread

  // What the thread does that sends and receives meanwhile; null: there is none. From any thread.
  const Activity* look_at_pump() { return options_.pumped ? &pump_.look() : nullptr; }
  LinkCounters counters() const { return connection_->counters(); }  // from any thread
  std::uint64_t rows() const { return rows_; }  // of tables, exchanged so far; from any thread
  struct Wait {
    std::string what;  // empty: it does not wait
    double seconds = 0;
  };
  Wait waiting() const;  // from any thread

 protected:
  PsExchange(Loop& loop, const PsClientOptions& options, TellChief tell);
  // To be called by whoever derives from it, when it is ready to hear: what PARAMS messages bring
  // goes to place() and arrived(). Throws CommError.
  void connect(PsAddress address);

  // Called by the thread that runs the loop. Throw FrameError.
  virtual std::span<std::byte> place(const wire::Params& params, const FrameHeader& header) = 0;
  virtual void arrived(const wire::Params& params, const FrameHeader& header) = 0;
  virtual void gone(const wire::Refusal&) {}  // a version that was asked for; state machine locked
  virtual void take_aside(const TakeAside&) {}  // likewise
  virtual std::uint32_t server_of(std::uint32_t chunk) const = 0;

  void carry_out(const WorkerCore::Actions& actions);  // with the state machine locked
  void send_pull(wire::Pull pull, Payload payload = {});
  // Sends the contribution's part for `chunk`; false when the run has gone on without it.
  bool send_push(std::uint32_t chunk, std::uint64_t ticket, Codec codec, Payload payload);
  void wait_for(const std::function<bool()>& done, const std::function<std::string()>& what);
  double own_scale(std::span<const float> gradient, const Loss& loss) const;
  void throw_if_aborted() const;
  static std::optional<std::uint64_t> clock_of(const wire::Params& params) {
    return params.has_clock() ? std::optional(params.clock()) : std::nullopt;
  }

  Loop& loop_;
  PsClientOptions options_;
  std::unique_ptr<PsConnection> connection_;
  mutable std::mutex mutex_;  // guards the state machine
  WorkerCore core_;
  Contribution contribution_;
  std::atomic<std::uint64_t> rows_ = 0;

 private:
  TellChief tell_;
  std::optional<Error> abort_reason_;
  std::atomic<bool> aborted_ = false;
  std::atomic<bool> dismissed_ = false;
  std::string meta_;  // re-used

  mutable std::mutex wait_mutex_;
  std::string waiting_for_;
  TimePoint waiting_since_;

 protected:
  Pump pump_;  // its thread calls whoever derives from this, who must stop it before all else
};

}  // namespace paceline
