#include "exchange/ps/server_core.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "net/frame.h"

namespace paceline {
namespace {

constexpr std::uint64_t kMostClock = std::uint64_t{1} << 48;

Range range_of(const wire::Tiles& tiles) {
  return {tiles.begin(), tiles.end()};
}

}  // namespace

ServerCore::ServerCore(const Options& options) : options_(options), version_(options.version) {
  PACELINE_CHECK(!options_.chunks.empty() && options_.grid.batch > 0);
  for (const std::uint32_t number : options_.chunks) {
    Chunk& chunk = chunks_[number];
    chunk.version = version_;
    if (options_.applied.empty()) {
      chunk.applied.add_below(version_);
    } else {
      for (const Range& range : options_.applied) {
        for (std::uint64_t step = range.begin; step < range.end; ++step) chunk.applied.add(step);
      }
    }
    for (const Range& range : chunk.applied.ranges()) {
      chunk.examples += options_.grid.examples_before(range.end);
      chunk.examples -= options_.grid.examples_before(range.begin);
    }
  }
  open_step();
}

ServerCore::Chunk& ServerCore::chunk(std::uint32_t number) {
  const auto found = chunks_.find(number);
  if (found == chunks_.end()) {
    throw FrameError(fmt::format("chunk {} is not this server's", number));
  }
  return found->second;
}

void ServerCore::open_step() {
  if (options_.mode != Mode::kSync) return;
  const std::uint64_t tiles = options_.grid.tiles(version_);
  for (auto& [number, chunk] : chunks_) {
    chunk.coverage = Coverage(tiles);
    chunk.weight = 0;
    chunk.sum = Chunk::kUnseen;
  }
  step_epoch_ = 0;
  measuring_ = false;
  scale_.reset();
}

// ---- contributions ---------------------------------------------------------------------

const ServerCore::Actions& ServerCore::push(const Sender& sender, const wire::Push& push) {
  actions_.clear();
  if (stopped_) return actions_;
  const Range tiles = range_of(push.tiles());
  if (tiles.begin > tiles.end || tiles.end > options_.grid.tiles(push.step())) {
    throw FrameError(
        fmt::format("tiles {}–{} of step {} do not exist", tiles.begin, tiles.end, push.step()));
  }
  if (push.step() >= options_.last_version) {
    throw FrameError(fmt::format("step {} is beyond the run's end", push.step()));
  }
  if (push.clock() > kMostClock) throw FrameError(fmt::format("a clock of {}", push.clock()));
  if (!std::isfinite(push.weight()) || push.weight() < 0 || !std::isfinite(push.scale())) {
    throw FrameError(
        fmt::format("a contribution of weight {} and scale {}", push.weight(), push.scale()));
  }
  if (dead_.contains(sender.incarnation)) {
    refuse(sender.client, push.chunk(), push.step(), wire::Refusal::FENCED);
  } else if (options_.mode == Mode::kSync) {
    push_sync(sender, push);
  } else {
    push_async(sender, push);
  }
  return actions_;
}

void ServerCore::push_sync(const Sender& sender, const wire::Push& push) {
  Chunk& chunk = this->chunk(push.chunk());
  const Waiting reader{sender.client, push.step() + 1, false, sender.base_version};
  if (push.step() < chunk.version) {  // complete: whatever it covers, it was seen
    if (!options_.rows) answer(push.chunk(), chunk, reader);
    return;
  }
  const auto refuse_for = [&](wire::Refusal::Reason reason) {
    refuse(sender.client, push.chunk(), push.step(), reason);
  };
  // Not even when this chunk is there: a sender holds the step's version of every chunk.
  if (push.step() > version_) return refuse_for(wire::Refusal::FUTURE);
  if (sender.base_version != push.step()) return refuse_for(wire::Refusal::BASE);
  if (sender.assignment_epoch < step_epoch_) return refuse_for(wire::Refusal::STALE_ASSIGNMENT);
  step_epoch_ = sender.assignment_epoch;
  const Range tiles = range_of(push.tiles());
  const Overlap overlap = chunk.coverage.classify(tiles);
  if (overlap == Overlap::kPartial) return refuse_for(wire::Refusal::OVERLAP);
  if (overlap == Overlap::kNew && !tiles.empty()) {
    actions_.push_back(Accumulate{push.chunk(), !chunk.coverage.touched()});
    chunk.coverage.add(tiles);
    chunk.weight += push.weight();
    count(push);
  }
  if (!options_.rows) answer(push.chunk(), chunk, reader);
  settle();
}

void ServerCore::push_async(const Sender& sender, const wire::Push& push) {
  Chunk& chunk = this->chunk(push.chunk());
  if (range_of(push.tiles()) != Range{0, options_.grid.tiles(push.step())}) {
    return refuse(sender.client, push.chunk(), push.step(), wire::Refusal::OVERLAP);
  }
  if (chunk.applied.add(push.step())) {
    ++chunk.version;
    const double scale = push.weight() > 0 ? push.scale() : 0;
    const bool skip = scale == 0;
    actions_.push_back(
        Apply{push.chunk(), push.step(), push.weight(), scale, chunk.version, chunk.examples});
    chunk.examples += options_.grid.positions(push.step()).size();
    if (skip && push.chunk() == options_.chunks.front()) tally_.set_skipped(tally_.skipped() + 1);
    count(push);
  }
  Clock& clock = chunk.clocks[sender.incarnation];
  clock.ticks = push.clock();
  clock.active = !push.last_lease();
  clock.since = sender.base_version;
  if (options_.rows) {
    acknowledge(sender.client, push);
  } else if (push.last_lease()) {
    actions_.push_back(SendParams{sender.client, push.chunk(), chunk.version, false, clock.since});
  } else {
    read(push.chunk(), chunk, clock, {sender.client, clock.ticks, 0});
    if (!clock.reads.empty()) acknowledge(sender.client, push);
  }
  release_readers(push.chunk(), chunk);
  version_ = std::min_element(chunks_.begin(), chunks_.end(), [](const auto& a, const auto& b) {
               return a.second.version < b.second.version;
             })->second.version;
  for (const std::uint64_t wanted : std::set(wanted_pins_)) pin_if_reached(wanted);
}

void ServerCore::acknowledge(ClientId client, const wire::Push& push) {
  wire::Ack ack;
  ack.set_chunk(push.chunk());
  ack.set_step(push.step());
  actions_.push_back(SendToClient{client, ack});
}

// Loss and progress are counted on one chunk only: every contribution has every chunk.
void ServerCore::count(const wire::Push& push) {
  if (push.chunk() != options_.chunks.front()) return;
  tally_.set_loss(tally_.loss() + push.loss());
  tally_.set_weight(tally_.weight() + push.weight());
  tally_.set_correct(tally_.correct() + push.correct());
  tally_.set_predictions(tally_.predictions() + push.predictions());
  tally_.set_examples(tally_.examples() + push.examples());
}

// ---- the open step ---------------------------------------------------------------------

// Applies whatever may be applied now. Chunks go one by one, each once it is known to be finite,
// unless a step-wide scalar is needed, in which case all of them wait for it.
void ServerCore::settle() {
  if (stopped_) return;
  if (pinned_by_schedule(version_ + 1) && pins_.size() >= options_.most_pins) return;
  if (options_.rules.need_whole_step() && !scale_) {
    const bool covered = std::all_of(chunks_.begin(), chunks_.end(), [](const auto& entry) {
      return entry.second.coverage.complete();
    });
    if (covered && !measuring_) {
      measuring_ = true;
      actions_.push_back(MeasureStep{version_});
    }
    return;
  }
  bool all_applied = true;
  for (auto& [number, chunk] : chunks_) {
    if (chunk.version == version_ && chunk.coverage.complete() && may_apply(number, chunk)) {
      apply_open(number, chunk, scale_.value_or(1.0));
    }
    all_applied = all_applied && chunk.version == version_ + 1;
  }
  if (all_applied) finish_step();
}

bool ServerCore::may_apply(std::uint32_t number, Chunk& chunk) {
  if (scale_ || !options_.rules.look() || chunk.sum == Chunk::kFinite) return true;
  if (chunk.sum == Chunk::kUnseen) {
    chunk.sum = Chunk::kChecking;
    actions_.push_back(CheckChunk{number, version_});
  }
  return false;
}

const ServerCore::Actions& ServerCore::checked(std::uint32_t number, std::uint64_t step,
                                               bool finite) {
  actions_.clear();
  Chunk& chunk = this->chunk(number);
  if (stopped_ || step != version_ || chunk.sum != Chunk::kChecking) return actions_;
  if (finite) {
    chunk.sum = Chunk::kFinite;
    settle();
  } else {
    fail_not_finite();
  }
  return actions_;
}

const ServerCore::Actions& ServerCore::measured(std::uint64_t step, double sum_of_squares,
                                                bool finite) {
  actions_.clear();
  if (stopped_ || step != version_ || !measuring_) return actions_;
  if (options_.servers == 1) {
    decide(sum_of_squares, finite);
  } else {
    wire::Scalars scalars;
    scalars.set_step(step);
    scalars.set_sum_of_squares(sum_of_squares);
    scalars.set_finite(finite);
    actions_.push_back(SendToChief{scalars});
  }
  return actions_;
}

const ServerCore::Actions& ServerCore::decision(const wire::Decision& decision) {
  actions_.clear();
  if (!stopped_ && decision.step() == version_ && measuring_ && !scale_) {
    decide(decision.sum_of_squares(), decision.finite());
  }
  return actions_;
}

void ServerCore::decide(double sum_of_squares, bool finite) {
  scale_ = options_.rules.scale({sum_of_squares, finite}, chunks_.begin()->second.weight);
  if (scale_) {
    settle();
  } else {
    fail_not_finite();
  }
}

void ServerCore::fail_not_finite() {
  stopped_ = true;
  actions_.push_back(FailRun{DivergedError(fmt::format("the gradient of step {}", version_))});
}

void ServerCore::apply_open(std::uint32_t number, Chunk& chunk, double scale) {
  ++chunk.version;
  actions_.push_back(Apply{number, version_, chunk.weight, chunk.weight > 0 ? scale : 0,
                           chunk.version, options_.grid.examples_before(version_)});
  answer_waiting(number, chunk);
}

void ServerCore::finish_step() {
  const bool skipped = scale_ == 0.0 || chunks_.begin()->second.weight <= 0;
  if (skipped) tally_.set_skipped(tally_.skipped() + 1);
  ++version_;
  open_step();
  if (pinned_by_schedule(version_)) {
    pins_.insert(version_);
    actions_.push_back(PinVersion{version_});
    tell_complete(true);
  }
}

void ServerCore::refuse(ClientId client, std::uint32_t number, std::uint64_t step,
                        wire::Refusal::Reason reason) {
  const Chunk& chunk = this->chunk(number);
  wire::Refusal refusal;
  refusal.set_chunk(number);
  refusal.set_step(step);
  refusal.set_reason(reason);
  refusal.set_version(chunk.version);
  if (reason == wire::Refusal::OVERLAP) {
    for (const Range& gap : chunk.coverage.missing()) {
      wire::Tiles& tiles = *refusal.add_missing();
      tiles.set_begin(gap.begin);
      tiles.set_end(gap.end);
    }
  }
  actions_.push_back(SendToClient{client, std::move(refusal)});
}

bool ServerCore::pinned_by_schedule(std::uint64_t version) const {
  return options_.mode == Mode::kSync &&
         (version % options_.grid.steps_per_epoch() == 0 || version == options_.last_version);
}

std::vector<Range> ServerCore::missing() const {
  if (options_.mode != Mode::kSync) return {};
  const Coverage* most = nullptr;
  for (const auto& [number, chunk] : chunks_) {
    if (chunk.version != version_) continue;
    if (!most || chunk.coverage.lacks() > most->lacks()) most = &chunk.coverage;
  }
  return most ? most->missing() : std::vector<Range>();
}

std::optional<RangeSet> ServerCore::applied() const {
  const RangeSet& first = chunks_.begin()->second.applied;
  for (const auto& [number, chunk] : chunks_) {
    if (chunk.applied.ranges() != first.ranges()) return std::nullopt;
  }
  return first;
}

}  // namespace paceline
