// Which rows of a table a worker has asked for, and which are there: a pure state machine beside
// WorkerCore. The driver (row_client.h, or a simulation) sends the pulls and has the rows.
//
// A read is of the rows that one share touches, at all servers, and is known by its ticket. The
// driver says expect() of the share that it is about to compute, and then of the one that follows:
// that is asked for at once where the mode allows it (`ahead`), or else after finish(). A worker
// that joins asks the first server alone, whose answer brings its clock, and then the others.
//
// At most three reads are kept: of this share, of the next, and of one that was set aside. What a
// read has named is remembered by the servers until a push uses it; so when a read is dropped, the
// next pull tells them to forget its ticket.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <vector>

#include "exchange/ps/worker_core.h"

namespace paceline {

class RowReads {
 public:
  using Ticket = std::uint64_t;  // of a read; 0: none
  struct Options {
    Mode mode = Mode::kSync;
    std::uint32_t servers = 1;
    bool ahead = false;  // the next share may be asked for while this one is computed
  };
  // `core` must outlive it; it tells the clock.
  RowReads(const Options& options, const WorkerCore& core);

  // Each returns what to send, valid until the next call. A pull's chunk is its server.
  using Pulls = std::vector<wire::Pull>;
  // Of the share that is computed now or, when there is one, of the one that follows it.
  const Pulls& expect(const Share& share);
  // Rows have come from `server`, and WorkerCore::params() was told.
  const Pulls& arrived(Ticket ticket, std::uint32_t server);
  // The current share was pushed; or not to all servers, because the run has gone on without it.
  const Pulls& finish(bool pushed);

  void set_aside() { current_ = 0; }  // the current share: it comes back
  void gone(std::uint64_t version);   // steps below it are done, by whomever

  Ticket current() const { return current_; }  // of the share that is computed
  Ticket ticket_of(const Share& share) const;
  bool keeps(Ticket ticket) const { return find(ticket) != nullptr; }
  bool awaits(Ticket ticket, std::uint32_t server) const;  // it keeps it, and those are not there
  bool complete() const;                     // all rows of the current share are there
  std::vector<std::uint32_t> owing() const;  // servers, to the current share

 private:
  struct Read {
    Share share;
    Ticket ticket = 0;
    bool sent = false;
    bool joins = false;              // only the first server was asked, and has not answered
    std::vector<bool> arrived = {};  // by server
  };

  const Read* find(Ticket ticket) const;
  void drop_stale();
  void send(Read& read);
  void ask(const Read& read, Range servers);
  void drop(const Read& read);

  Options options_;
  const WorkerCore& core_;
  std::list<Read> reads_;                    // oldest first
  std::vector<std::vector<Ticket>> forget_;  // by server: what it need not remember
  Ticket last_ = 0;
  Ticket current_ = 0;
  Pulls pulls_;
};

}  // namespace paceline
