#include "exchange/ps/row_shard.h"

#include <algorithm>

#include "base/error.h"
#include "exchange/tree_sum.h"

namespace paceline {
namespace {

// Reads of one client under way: a worker has two or three, whoever saves or tests a few.
constexpr std::size_t kMostRequests = 64;

Payload payload_of(std::span<const float> values) {
  auto buffer = std::make_shared<Buffer>(values.size_bytes());
  std::ranges::copy(values, buffer->as_floats().begin());
  return {std::as_const(*buffer).bytes(), buffer};
}

// Calls work(place in a, place in b) where the two, both ascending, have the same row.
template <typename Work>
void for_common(RowNumbers a, RowNumbers b, const Work& work) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (a[i] == b[j]) work(i, j);
    const bool next_a = a[i] <= b[j];
    const bool next_b = b[j] <= a[i];
    i += next_a ? 1 : 0;
    j += next_b ? 1 : 0;
  }
}

}  // namespace

RowShard::RowShard(const RowDeal& deal, std::uint32_t server, RowShardOptions options,
                   const Schedule& schedule)
    : deal_(deal),
      server_(server),
      options_(std::move(options)),
      schedule_(schedule),
      table_(deal.rows_each()),
      update_(options_.optimizer),
      rule_(row_rule(options_.optimizer, schedule.rate(0))),
      version_(options_.version) {}

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
  const auto request = requests_.find({client, push.ticket()});
  if (request == requests_.end() || !request->second.rows) {
    throw FrameError(
        fmt::format("a push for rows that nobody has named (ticket {})", push.ticket()));
  }
  const std::shared_ptr<const Rows> rows = std::move(request->second.rows);
  requests_.erase(request);
  const std::size_t nodes = options_.deterministic ? tree_nodes(tiles).size() : 1;
  return {std::make_shared<Buffer>(nodes * rows->size() * sizeof(float)), rows};
}

void RowShard::accumulate(std::uint32_t, bool first, Range tiles, Gradient gradient) {
  if (first) {
    sums_.clear();
    collected_.clear();
  }
  if (options_.deterministic) {
    collected_.push_back({tiles, std::move(gradient)});
  } else {
    sums_.add(*gradient.rows, gradient.values->as_floats());
  }
}

// With --deterministic the tree is built when all of its rows are known: a row that a tile does
// not touch has a gradient of zero there, whoever computed the tile.
const RowSums& RowShard::summed(std::uint64_t step) {
  if (collected_.empty()) return sums_;
  Rows rows;
  for (const Collected& one : collected_) rows = joined(rows, *one.gradient.rows);
  TreeSum tree(rows.size());
  std::vector<float> values(rows.size());
  for (const Collected& one : collected_) {
    std::span<const float> rest = one.gradient.values->as_floats();
    for (const Range& node : tree_nodes(one.tiles)) {
      std::ranges::fill(values, 0.0F);
      for_common(rows, *one.gradient.rows,
                 [&](std::size_t to, std::size_t from) { values[to] = rest[from]; });
      tree.add(node, values);
      rest = rest.subspan(one.gradient.rows->size());
    }
  }
  tree.root(options_.grid.tiles(step), values);
  collected_.clear();
  sums_.clear();
  sums_.add(rows, values);
  return sums_;
}

bool RowShard::is_finite(std::uint32_t, std::uint64_t step) {
  return all_finite(summed(step).values());
}

Norm RowShard::measure(std::uint64_t step) {
  return options_.rules.measure(summed(step).values());
}

void RowShard::apply(const Apply& apply, const Gradient& gradient) {
  Step step = spare();
  step.version = version_;
  if (apply.scale != 0) {
    std::span<const float> sums;
    RowNumbers rows;
    if (gradient.values) {
      sums = gradient.values->as_floats();
      rows = *gradient.rows;
    } else {
      sums = summed(apply.step).values();
      rows = sums_.rows();
    }
    step.rows.assign(rows.begin(), rows.end());
    const double rate = schedule_.rate(static_cast<double>(apply.examples_before));
    update_.apply({rate, apply.scale * options_.rules.sum_factor / apply.weight, apply.version},
                  rows, sums, table_.rows(), step.before);
  }
  steps_.push_back(std::move(step));
  version_ = apply.version;
  forget_unneeded();
  join_steps();
}

RowShard::Step RowShard::spare() {
  if (spare_steps_.empty()) return {};
  Step step = std::move(spare_steps_.back());
  spare_steps_.pop_back();
  step.rows.clear();
  step.before.clear();
  return step;
}

// ---- versions --------------------------------------------------------------------------

void RowShard::release(std::uint64_t version) {
  pinned_.erase(version);
  forget_unneeded();
}

// In sync mode the version before the newest is kept: to compute a share again needs it.
void RowShard::forget_unneeded() {
  std::uint64_t oldest = version_ - (options_.mode == Mode::kSync && version_ > 0 ? 1 : 0);
  if (!pinned_.empty()) oldest = std::min(oldest, *pinned_.begin());
  while (!steps_.empty() && steps_.front().version < oldest) {
    if (spare_steps_.size() < 2) spare_steps_.push_back(std::move(steps_.front()));
    steps_.pop_front();
  }
}

// Neighbours of about the same size become one, unless the version between them is kept: so the
// lists are few, and a row costs a few copies however long a version is pinned.
void RowShard::join_steps() {
  const bool keeps_last = options_.mode == Mode::kSync;
  if (steps_.size() < (keeps_last ? 3U : 2U)) return;
  for (std::size_t at = steps_.size() - (keeps_last ? 2 : 1); at > 0; --at) {
    Step& older = steps_[at - 1];
    Step& newer = steps_[at];
    if (pinned_.contains(newer.version) || older.rows.size() > 2 * newer.rows.size()) return;
    Step both = spare();
    both.version = older.version;
    both.rows = joined(older.rows, newer.rows);
    both.before.resize(both.rows.size());
    const auto take = [&](const Step& from) {
      for_common(both.rows, from.rows,
                 [&](std::size_t to, std::size_t i) { both.before[to] = from.before[i]; });
    };
    take(newer);
    take(older);  // what was before both
    older = std::move(both);
    steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

std::uint64_t RowShard::rows_kept() const {
  std::uint64_t rows = 0;
  for (const Step& step : steps_) rows += step.rows.size();
  return rows;
}

// Calls each(step) for the steps since `version`, newest first.
template <typename Undo>
void RowShard::undo(std::uint64_t version, const Undo& each) const {
  PACELINE_CHECK(version <= version_ &&
                 (version == version_ || (!steps_.empty() && steps_.front().version <= version)));
  for (auto step = steps_.rbegin(); step != steps_.rend() && step->version >= version; ++step) {
    each(*step);
  }
}

// ---- readers ---------------------------------------------------------------------------

void RowShard::asked(ClientId client, const wire::Pull& pull, std::span<const std::byte> payload) {
  for (const std::uint64_t ticket : pull.forget()) requests_.erase({client, ticket});
  if (pull.ticket() == 0) return;
  const auto of_client = [&](std::uint64_t ticket) { return std::pair(client, ticket); };
  const auto begin = requests_.lower_bound(of_client(0));
  const auto end = requests_.upper_bound(of_client(~std::uint64_t{0}));
  if (static_cast<std::size_t>(std::distance(begin, end)) >= kMostRequests) {
    throw FrameError("too many reads at once");
  }
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
  if (!requests_.emplace(of_client(pull.ticket()), std::move(request)).second) {
    throw FrameError("a ticket was used twice");
  }
}

// A gap has at most five bytes, and there is a head.
std::size_t RowShard::most_asked() const {
  return 5 * deal_.rows_each() + 16;
}

void RowShard::gone(ClientId client) {
  std::erase_if(requests_, [&](const auto& entry) { return entry.first.first == client; });
}

Holding::Answer RowShard::answer(const SendParams& send) {
  const auto request = requests_.find({send.client, send.ticket});
  if (request == requests_.end()) return {};
  if (request->second.rows) {  // and remembered: the push names them again
    return {payload_of(weights(send.version, *request->second.rows)), {}};
  }
  const Request once = std::move(request->second);
  requests_.erase(request);
  if (!once.part) return {payload_of(scores(send.version, once.tests)), {}};
  const wire::Rows& wanted = *once.part;
  return {payload_of(part(send.version, wanted.vector(), {wanted.begin(), wanted.end()})), {}};
}

std::vector<float> RowShard::weights(std::uint64_t version, RowNumbers rows) const {
  std::vector<TableRow> found(rows.size());
  read_rows(table_.rows(), rows, found);
  undo(version, [&](const Step& step) {
    for_common(rows, step.rows,
               [&](std::size_t to, std::size_t from) { found[to] = step.before[from]; });
  });
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
  undo(version, [&](const Step& step) {
    const auto begin = std::ranges::lower_bound(step.rows, first);
    for (auto row = begin; row != step.rows.end() && *row < last; ++row) {
      rows[*row - first] = step.before[static_cast<std::size_t>(row - step.rows.begin())];
    }
  });
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
