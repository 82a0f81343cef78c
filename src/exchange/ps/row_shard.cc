#include "exchange/ps/row_shard.h"

#include <algorithm>

#include "base/error.h"
#include "exchange/tree_sum.h"

namespace paceline {
namespace {

Payload payload_of(std::span<const float> values) {
  auto buffer = std::make_shared<Buffer>(values.size_bytes());
  std::ranges::copy(values, buffer->as_floats().begin());
  return {std::as_const(*buffer).bytes(), buffer};
}

}  // namespace

// In sync mode the version before the newest is kept: to compute a share again needs it.
RowShard::RowShard(const RowDeal& deal, std::uint32_t server, RowShardOptions options,
                   const Schedule& schedule)
    : deal_(deal),
      server_(server),
      options_(std::move(options)),
      schedule_(schedule),
      table_(deal.rows_each()),
      update_(options_.optimizer),
      rule_(row_rule(options_.optimizer, schedule.rate(0))),
      history_(options_.version, options_.mode == Mode::kSync),
      step_(options_.deterministic) {}

void RowShard::load_vector(std::uint64_t vector, Key first, std::span<const float> values) {
  const bool ftrl = options_.optimizer.kind == OptimizerKind::kFtrl;
  if (ftrl && vector == 0) return;  // it follows from the others
  const bool is_a = vector == (ftrl ? 1U : 0U);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto key = static_cast<Key>(first + i);
    if (values[i] == 0 || deal_.server_of(key) != server_) continue;
    TableRow& row = table()[deal_.row_of(key)];
    (is_a ? row.a : row.b) = values[i];
  }
}

// ---- contributions ---------------------------------------------------------------------

Gradient RowShard::landing(ClientId client, const wire::Push& push, Range tiles) {
  Request* request = requests_.find(client, push.ticket());
  if (request == nullptr || !request->rows) {
    throw FrameError(
        fmt::format("a push for rows that nobody has named (ticket {})", push.ticket()));
  }
  const std::shared_ptr<const Rows> rows = std::move(request->rows);
  requests_.forget(client, push.ticket());
  const std::size_t nodes = step_.deterministic() ? tree_nodes(tiles).size() : 1;
  return {std::make_shared<Buffer>(nodes * rows->size() * sizeof(float)), rows};
}

void RowShard::accumulate(std::uint32_t, bool first, Range tiles, Gradient gradient) {
  if (first) step_.clear();
  step_.add(tiles, std::move(gradient));
}

const RowSums& RowShard::sums(std::uint64_t step) {
  return step_.sums(options_.grid.tiles(step));
}

bool RowShard::is_finite(std::uint32_t, std::uint64_t step) {
  return all_finite(sums(step).values());
}

Norm RowShard::measure(std::uint64_t step) {
  return options_.rules.measure(sums(step).values());
}

void RowShard::apply(const Apply& apply, const Gradient& gradient) {
  RowHistory::Step step = history_.begin();
  if (apply.scale != 0) {
    std::span<const float> values;
    RowNumbers rows;
    if (gradient.values) {
      values = gradient.values->as_floats();
      rows = *gradient.rows;
    } else {
      const RowSums& sums = this->sums(apply.step);
      values = sums.values();
      rows = sums.rows();
    }
    step.rows.assign(rows.begin(), rows.end());
    const double rate = schedule_.rate(static_cast<double>(apply.examples_before));
    update_.apply({rate, apply.scale * options_.rules.sum_factor / apply.weight, apply.version},
                  rows, values, table_.rows(), step.before);
  }
  history_.end(std::move(step), apply.version);
}

// ---- readers ---------------------------------------------------------------------------

void RowShard::asked(ClientId client, const wire::Pull& pull, std::span<const std::byte> payload) {
  for (const std::uint64_t ticket : pull.forget()) requests_.forget(client, ticket);
  if (pull.ticket() == 0) return;
  Request request;
  if (pull.has_part()) {
    const wire::Rows& part = pull.part();
    const bool possible = part.begin() <= part.end() && part.end() <= deal_.rows() &&
                          part.vector() <= Optimizer(options_.optimizer).slots();
    if (!possible) throw FrameError("there is no such part of the table");
    request.part = part;
  } else if (pull.has_tests()) {
    request.tests = {pull.tests().begin(), pull.tests().end()};
    const std::uint64_t tests = options_.tests ? options_.tests->info().rows : 0;
    if (request.tests.begin > request.tests.end || request.tests.end > tests) {
      throw FrameError("there are no such test rows");
    }
  } else {
    request.rows = std::make_shared<const Rows>(decode_rows(payload, deal_.rows_each()));
  }
  requests_.add(client, pull.ticket(), std::move(request));
}

// A gap has at most five bytes, and there is a head.
std::size_t RowShard::most_asked() const {
  return 5 * deal_.rows_each() + 16;
}

void RowShard::gone(ClientId client) {
  requests_.forget(client);
}

Holding::Answer RowShard::answer(const SendParams& send) {
  Request* request = requests_.find(send.client, send.ticket);
  if (request == nullptr) return {};
  if (request->rows) {  // and remembered: the push names them again
    return {payload_of(weights(send.version, *request->rows)), {}};
  }
  const Request once = std::move(*request);
  requests_.forget(send.client, send.ticket);
  if (!once.part) return {payload_of(scores(send.version, once.tests)), {}};
  const wire::Rows& wanted = *once.part;
  return {payload_of(part(send.version, wanted.vector(), {wanted.begin(), wanted.end()})), {}};
}

std::vector<float> RowShard::weights(std::uint64_t version, RowNumbers rows) const {
  std::vector<TableRow> found(rows.size());
  read_rows(table_.rows(), rows, found);
  history_.undo(version, rows, found);
  std::vector<float> weights(rows.size());
  weights_of(rule_, found, weights);
  return weights;
}

std::vector<float> RowShard::part(std::uint64_t version, std::uint64_t vector, Range keys) const {
  const auto first = static_cast<std::uint32_t>(keys.begin / deal_.servers());
  const auto last = static_cast<std::uint32_t>(
      std::min((keys.end + deal_.servers() - 1) / deal_.servers(), deal_.rows_each()));
  const auto here = table_.rows().subspan(first, last - first);
  std::vector<TableRow> rows(here.begin(), here.end());
  history_.undo(version, first, rows);
  std::vector<float> values(rows.size());
  if (vector == 0) {
    weights_of(rule_, rows, values);
  } else {
    const bool is_a = options_.optimizer.kind == OptimizerKind::kFtrl && vector == 1;
    std::ranges::transform(rows, values.begin(),
                           [&](const TableRow& row) { return is_a ? row.a : row.b; });
  }
  if (deal_.servers() == 1) return values;
  std::size_t kept = 0;
  for (std::uint32_t row = first; row < last; ++row) {
    const Key key = deal_.key_of(server_, row);
    if (key >= keys.begin && key < keys.end) values[kept++] = values[row - first];
  }
  values.resize(kept);
  return values;
}

std::vector<float> RowShard::scores(std::uint64_t version, Range tests) {
  const RowCache& all = *options_.tests;
  Rows keys;
  std::vector<float> values;
  std::vector<std::size_t> ends;
  for (std::uint64_t test = tests.begin; test < tests.end; ++test) {
    const RowView row = row_at(all.row(test));
    for (std::size_t k = 0; k < row.keys.size(); ++k) {
      Key key = row.keys[k];
      if ((key & kHotBit) != 0) key = all.hot()[key & ~kHotBit];
      if (deal_.server_of(key) != server_) continue;
      keys.push_back(deal_.row_of(key));
      values.push_back(row.value(k));
    }
    ends.push_back(keys.size());
  }
  touched_.begin({});
  touched_.number(keys, keys);
  Rows rows;
  touched_.sort(rows);
  touched_.place(keys);
  const std::vector<float> weights = this->weights(version, rows);
  std::vector<float> scores(tests.size());
  std::size_t at = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    for (; at < ends[i]; ++at) scores[i] += values[at] * weights[keys[at]];
  }
  return scores;
}

}  // namespace paceline
