// One server's part of a table: rows by number (row_deal.h), each with its weight and what the
// optimizer keeps. The table is changed in place; row_history.h has the versions before, row_step.h
// the gradient sums of the open step.
//
// A reader names rows, or a part of the table, or test rows: these are scored here, by the keys
// that are here, so that a test moves scores and not the table.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "data/share.h"
#include "data/sparse/row_cache.h"
#include "data/sparse/touched.h"
#include "exchange/options.h"
#include "exchange/ps/holding.h"
#include "exchange/ps/row_history.h"
#include "exchange/ps/row_step.h"
#include "exchange/ps/tickets.h"
#include "exchange/row_deal.h"
#include "optim/rows/row_sums.h"
#include "optim/rows/row_table.h"
#include "optim/schedule.h"

namespace paceline {

struct RowShardOptions {
  OptimizerOptions optimizer;
  Mode mode = Mode::kSync;
  Grid grid;
  StepRules rules;
  bool deterministic = false;
  std::uint64_t version = 0;              // to start from
  std::shared_ptr<const RowCache> tests;  // rows to score; none: nobody asks
};

class RowShard final : public Holding {
 public:
  RowShard(const RowDeal& deal, std::uint32_t server, RowShardOptions options,
           const Schedule& schedule);

  std::uint64_t version() const { return history_.version(); }
  std::span<TableRow> table() { return table_.rows(); }
  // Values for keys from `first` on, of which those of this server are taken.
  void load_vector(std::uint64_t vector, Key first, std::span<const float> values);

  Gradient landing(ClientId client, const wire::Push& push, Range tiles) override;
  void asked(ClientId client, const wire::Pull& pull, std::span<const std::byte> payload) override;
  std::size_t most_asked() const override;
  void gone(ClientId client) override;
  void accumulate(std::uint32_t chunk, bool first, Range tiles, Gradient gradient) override;
  bool is_finite(std::uint32_t chunk, std::uint64_t step) override;
  Norm measure(std::uint64_t step) override;
  void apply(const Apply& apply, const Gradient& gradient) override;
  void pin(std::uint64_t version) override { history_.pin(version); }
  void release(std::uint64_t version) override { history_.release(version); }
  Answer answer(const SendParams& send) override;

  // Of a version that is kept. Several threads may read at once.
  std::vector<float> weights(std::uint64_t version, RowNumbers rows) const;
  // Of vector 0, the weights, or of what the optimizer keeps: the values of the keys held here.
  std::vector<float> part(std::uint64_t version, std::uint64_t vector, Range keys) const;
  std::uint64_t rows_kept() const { return history_.rows_kept(); }  // to undo steps

 private:
  using Rows = std::vector<std::uint32_t>;
  struct Request {
    std::shared_ptr<const Rows> rows;  // or
    std::optional<wire::Rows> part;    // or
    Range tests;
  };

  const RowSums& sums(std::uint64_t step);
  std::vector<float> scores(std::uint64_t version, Range tests);

  RowDeal deal_;
  std::uint32_t server_;
  RowShardOptions options_;
  Schedule schedule_;
  RowTable table_;
  RowUpdate update_;
  RowRule rule_;  // that weights follow from; ftrl has one rate for a whole run
  RowHistory history_;
  RowStep step_;
  Tickets<Request> requests_;
  TouchedKeys touched_;
};

}  // namespace paceline
