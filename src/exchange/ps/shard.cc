#include "exchange/ps/shard.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace paceline {
namespace {

constexpr long kPoolAndCurrent = 2;  // references

// A buffer that nobody else holds, from the pool or new.
std::shared_ptr<Buffer> take(std::vector<std::shared_ptr<Buffer>>& pool, std::size_t bytes) {
  for (const std::shared_ptr<Buffer>& buffer : pool) {
    if (buffer.use_count() == 1 && buffer->size() == bytes) return buffer;
  }
  pool.push_back(std::make_shared<Buffer>(bytes));
  return pool.back();
}

std::vector<GroupRange> groups_within(const std::vector<GroupRange>& groups, Range floats) {
  std::vector<GroupRange> inside;
  for (GroupRange group : groups) {
    group.floats.begin = std::max(group.floats.begin, floats.begin);
    group.floats.end = std::min(group.floats.end, floats.end);
    if (group.floats.begin >= group.floats.end) continue;
    group.floats.begin -= floats.begin;
    group.floats.end -= floats.begin;
    inside.push_back(group);
  }
  return inside;
}

}  // namespace

Shard::Shard(const ChunkMap& map, std::uint32_t server, const ShardOptions& options,
             const Schedule& schedule)
    : options_(options), optimizer_(options.optimizer), schedule_(schedule) {
  for (const std::uint32_t number : map.chunks_of(server)) {
    Chunk& chunk = chunks_[number];
    chunk.floats = map.floats_of(number);
    chunk.groups = groups_within(options.groups, chunk.floats);
    chunk.tree = TreeSum(chunk.floats.size());
  }
}

void Shard::load(std::uint32_t number, std::uint64_t version, std::span<const float> values,
                 std::span<const float> state) {
  Chunk& chunk = chunks_.at(number);
  PACELINE_CHECK(values.size() == chunk.floats.size());
  PACELINE_CHECK(state.empty() || state.size() == slots() * values.size());
  chunk.current.number = version;
  chunk.history.start(version);
  chunk.current.values = take(chunk.free_values, values.size_bytes());
  std::copy(values.begin(), values.end(), chunk.current.values->as_floats().begin());
  chunk.current.state = take(chunk.free_state, slots() * values.size_bytes());
  std::span<float> into = chunk.current.state->as_floats();
  if (state.empty()) {
    std::fill(into.begin(), into.end(), 0.0F);
  } else {
    std::copy(state.begin(), state.end(), into.begin());
  }
}

Gradient Shard::landing(ClientId, const wire::Push& push, Range tiles) {
  return {take(free_landings_, contribution_bytes(push.chunk(), tiles)), nullptr};
}

std::size_t Shard::contribution_bytes(std::uint32_t number, Range tiles) const {
  const std::size_t nodes = options_.deterministic ? tree_nodes(tiles).size() : 1;
  return nodes * chunks_.at(number).floats.size() * sizeof(float);
}

void Shard::accumulate(std::uint32_t number, bool first, Range tiles, Gradient gradient) {
  Chunk& chunk = chunks_.at(number);
  if (options_.deterministic) {
    if (first) chunk.tree.clear();
    std::span<const float> rest = gradient.values->as_floats();
    for (const Range& node : tree_nodes(tiles)) {
      chunk.tree.add(node, rest.first(chunk.floats.size()));
      rest = rest.subspan(chunk.floats.size());
    }
    chunk.sum.reset();
  } else if (first) {
    chunk.sum = std::move(gradient.values);
  } else {
    add(chunk.sum->as_floats(), gradient.values->as_floats());
  }
}

std::span<const float> Shard::summed(Chunk& chunk, std::uint64_t step) {
  if (!chunk.sum) {  // deterministic: the tree has all tiles
    chunk.sum = take(free_landings_, chunk.floats.size() * sizeof(float));
    chunk.tree.root(options_.grid.tiles(step), chunk.sum->as_floats());
  }
  return chunk.sum->as_floats();
}

bool Shard::is_finite(std::uint32_t chunk, std::uint64_t step) {
  return all_finite(summed(chunks_.at(chunk), step));
}

Norm Shard::measure(std::uint64_t step) {
  Norm total;
  for (auto& [number, chunk] : chunks_) total += options_.rules.measure(summed(chunk, step));
  return total;
}

void Shard::apply(const Apply& apply, const Gradient& gradient) {
  Chunk& chunk = chunks_.at(apply.chunk);
  const std::span<const float> sum = gradient.values
                                         ? std::span<const float>(gradient.values->as_floats())
                                         : summed(chunk, apply.step);
  const std::size_t bytes = chunk.floats.size() * sizeof(float);
  const bool unchanged = apply.scale == 0;
  chunk.previous = {};
  // In place only if neither a reader nor a pin holds the buffer: the pool's reference and
  // the current version's are then the only ones.
  const bool state_in_place = !options_.keep_previous_state && !unchanged &&
                              chunk.current.state.use_count() == kPoolAndCurrent;
  Version next{apply.version, chunk.current.values, chunk.current.state};
  if (!unchanged) {
    next.values = take(chunk.free_values, bytes);
    if (!state_in_place) next.state = take(chunk.free_state, slots() * bytes);
  }
  const StepScalars scalars{schedule_.rate(static_cast<double>(apply.examples_before)),
                            apply.scale * options_.rules.sum_factor / apply.weight, apply.version};
  if (!unchanged) {
    optimizer_.apply(scalars, chunk.groups, sum, chunk.current.values->as_floats(),
                     next.values->as_floats(), chunk.current.state->as_floats(),
                     next.state->as_floats());
    chunk.history.change(apply.version, chunk.current.values->as_floats(),
                         next.values->as_floats());
  }
  chunk.previous = std::exchange(chunk.current, std::move(next));
  if (state_in_place) chunk.previous.state.reset();  // it is the next version's now
  chunk.sum.reset();
}

void Shard::pin(std::uint64_t version) {
  for (auto& [number, chunk] : chunks_) chunk.pinned[version] = find(chunk, version);
}

void Shard::release(std::uint64_t version) {
  for (auto& [number, chunk] : chunks_) chunk.pinned.erase(version);
}

const Shard::Version& Shard::find(const Chunk& chunk, std::uint64_t version) const {
  if (chunk.current.number == version) return chunk.current;
  if (chunk.previous.values && chunk.previous.number == version) return chunk.previous;
  const auto pinned = chunk.pinned.find(version);
  PACELINE_CHECK(pinned != chunk.pinned.end());
  return pinned->second;
}

Holding::Answer Shard::answer(const SendParams& send) {
  Answer answer{values(send.chunk, send.version, send.state), std::nullopt};
  if (send.since && !options_.whole_tables)
    answer.changed = changed(send.chunk, send.version, *send.since);
  return answer;
}

Payload Shard::values(std::uint32_t number, std::uint64_t version, bool with_state) const {
  const Version& found = find(chunks_.at(number), version);
  if (!with_state || slots() == 0) return {found.values->bytes(), found.values};
  const Payload behind = state(number, version);
  auto both = std::make_shared<Buffer>(found.values->size() + behind.bytes.size());
  std::memcpy(both->data(), found.values->data(), found.values->size());
  std::memcpy(both->data() + found.values->size(), behind.bytes.data(), behind.bytes.size());
  return {both->bytes(), both};
}

Payload Shard::state(std::uint32_t number, std::uint64_t version) const {
  const std::shared_ptr<Buffer>& found = find(chunks_.at(number), version).state;
  if (!found) {
    throw FrameError(fmt::format(
        "the optimizer's state of version {} of chunk {} is not kept: ask for the newest version",
        version, number));
  }
  return {std::as_const(*found).bytes(), found};
}

std::optional<BlockSet> Shard::changed(std::uint32_t number, std::uint64_t version,
                                       std::uint64_t since) const {
  const Chunk& chunk = chunks_.at(number);
  if (version != chunk.current.number) return std::nullopt;
  return chunk.history.since(since, chunk.floats.size());
}

}  // namespace paceline
