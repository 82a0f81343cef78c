#include "exchange/ps/worker_core.h"

#include <algorithm>

#include "base/error.h"
#include "net/frame.h"

namespace paceline {

WorkerCore::WorkerCore(const Options& options)
    : options_(options), chunks_(options.chunks), next_step_(options.version) {}

// ---- messages --------------------------------------------------------------------------

const WorkerCore::Actions& WorkerCore::assignment(const wire::Assignment& message) {
  actions_.clear();
  Assignment assignment{message.epoch(), message.start(), {}};
  for (const auto& entry : message.entries()) {
    if (entry.weight() > AssignmentEntry::kMostWeight) {
      throw FrameError("an assignment with a weight that is too large");
    }
    assignment.entries.push_back({entry.worker(), entry.weight()});
  }
  for (const auto& share : message.adopt()) {
    const wire::Tiles& tiles = share.tiles();
    if (share.step() >= options_.last_version || tiles.begin() > tiles.end() ||
        tiles.end() > options_.grid.tiles(share.step())) {
      throw FrameError("an assignment with a share that there is not");
    }
  }
  if (!assignments_.accepts(assignment))
    throw FrameError("an assignment that is older than the one in force");
  if (prepared_ && assignment.epoch >= *prepared_) prepared_.reset();
  assignments_.add(std::move(assignment));
  for (const auto& share : message.adopt()) {
    add_to_do({{share.step(), {share.tiles().begin(), share.tiles().end()}}, share.epoch()});
  }
  return actions_;
}

const WorkerCore::Actions& WorkerCore::prepare(const wire::Prepare& message) {
  actions_.clear();
  prepared_ = message.epoch();
  wire::Prepared prepared;
  prepared.set_epoch(message.epoch());
  prepared.set_next(next_step_);
  actions_.push_back(WordForChief{prepared});
  return actions_;
}

const WorkerCore::Actions& WorkerCore::lease(const wire::Lease& lease) {
  actions_.clear();
  for (const auto& steps : lease.steps()) {
    if (steps.end() > options_.last_version) throw FrameError("a lease beyond the run's end");
    for (std::uint64_t step = steps.begin(); step < steps.end(); ++step) leases_.push_back(step);
  }
  return actions_;
}

void WorkerCore::expect_chunk(std::uint32_t number) const {
  if (number >= chunks_.size()) throw FrameError("there is no such chunk");
}

const WorkerCore::Actions& WorkerCore::ack(const wire::Ack& ack) {
  actions_.clear();
  expect_chunk(ack.chunk());
  acknowledge(ack.chunk());
  return actions_;
}

const WorkerCore::Actions& WorkerCore::refused(const wire::Refusal& refusal) {
  actions_.clear();
  if (refusal.reason() == wire::Refusal::FENCED) {
    throw CommError(
        "this worker was declared dead (it was silent too long) and its work was "
        "given to others; start it again to join anew");
  }
  if (refusal.reason() != wire::Refusal::GONE) {
    throw CommError("a server refused step {} of chunk {}: {} (its version is {})", refusal.step(),
                    refusal.chunk(), wire::Refusal::Reason_Name(refusal.reason()),
                    refusal.version());
  }
  // The run has gone on without what was asked for: so must this worker.
  const std::uint64_t complete = refusal.version();
  expect_chunk(refusal.chunk());
  if (complete > options_.last_version) throw FrameError("a version beyond the run's end");
  std::erase_if(to_do_, [&](const Task& task) { return task.share.step < complete; });
  if (current_ && current_->share.step < complete) current_.reset();
  next_step_ = std::max(next_step_, complete);
  chunks_.at(refusal.chunk()).wanted.reset();
  return actions_;
}

// ---- shares ----------------------------------------------------------------------------

WorkerCore::Next WorkerCore::next(Share& share) {
  actions_.clear();
  PACELINE_CHECK(!current_);
  if (stopping_) return Next::kDone;
  Task task;
  const Next result = options_.mode == Mode::kSync ? next_sync(task) : next_leased(task);
  if (result == Next::kShare) {
    current_ = task;
    share = task.share;
    unpushed_ = options_.chunks;
    for (Chunk& chunk : chunks_) chunk.pushed = false;
  }
  return result;
}

const WorkerCore::Actions& WorkerCore::take_actions() {
  return actions_;
}

WorkerCore::Next WorkerCore::next_sync(Task& task) {
  while (true) {
    if (!to_do_.empty() && to_do_.front().share.step <= next_step_) {
      task = to_do_.front();
      to_do_.erase(to_do_.begin());
      return Next::kShare;
    }
    if (next_step_ == options_.last_version) {
      return complete(options_.last_version) ? Next::kDone : Next::kWait;
    }
    const Assignment* assignment = assignments_.in_force(next_step_);
    if (prepared_ || assignment == nullptr) return Next::kWait;
    task.epoch = assignment->epoch;
    task.share = {next_step_,
                  assignment->tiles_for(options_.incarnation, options_.grid.tiles(next_step_))};
    if (task.share.tiles.empty() && !complete(next_step_ + 1)) return Next::kWait;
    ++next_step_;
    assignments_.forget_before(next_step_);
    if (!task.share.tiles.empty()) return Next::kShare;
  }
}

// Whether `version` is there on every server; asks for it where that is not known. This is
// how a worker waits for steps in which it has nothing to compute.
bool WorkerCore::complete(std::uint64_t version) {
  bool all = true;
  for (std::uint32_t chunk = 0; chunk < options_.chunks; ++chunk) {
    if (chunks_[chunk].have && *chunks_[chunk].have >= version) continue;
    all = false;
    ask(chunk, version);
  }
  return all;
}

WorkerCore::Next WorkerCore::next_leased(Task& task) {
  if (leases_.empty()) return Next::kWait;
  task.share = options_.grid.whole(leases_.front());
  leases_.pop_front();
  if (std::exchange(idle_, false)) {  // joins again: what it holds may be older than allowed
    for (Chunk& chunk : chunks_) chunk.join = true;
    clock_.reset();
  }
  return Next::kShare;
}

void WorkerCore::ask(std::uint32_t number, std::uint64_t version) {
  Chunk& chunk = chunks_[number];
  if (chunk.have == version || chunk.wanted == version) return;
  chunk.wanted = version;
  wire::Pull pull;
  pull.set_chunk(number);
  pull.set_version(version);
  actions_.push_back(SendPull{pull});
}

bool WorkerCore::holds(std::uint32_t chunk) const {
  if (!current_) return false;
  if (options_.mode == Mode::kSync) return chunks_[chunk].have == current_->share.step;
  return !chunks_[chunk].join && chunks_[chunk].answers == 0;
}

const WorkerCore::Actions& WorkerCore::needs(std::uint32_t number) {
  actions_.clear();
  if (!current_ || holds(number)) return actions_;
  if (options_.mode == Mode::kSync) {
    ask(number, current_->share.step);
  } else if (chunks_[number].join) {
    chunks_[number].join = false;
    ++chunks_[number].answers;
    if (number == 0 || clock_) {
      join(number);
    } else {
      to_join_.push_back(number);
      if (std::exchange(chunks_[0].join, false)) {
        ++chunks_[0].answers;
        join(0);
      }
    }
  }
  return actions_;
}

void WorkerCore::join(std::uint32_t number) {
  wire::Pull pull;
  pull.set_chunk(number);
  pull.set_latest(true);
  if (clock_) pull.set_clock(*clock_);
  actions_.push_back(SendPull{pull});
}

const WorkerCore::Actions& WorkerCore::push(std::uint32_t number,
                                            const Contribution& contribution) {
  actions_.clear();
  if (!current_) return actions_;  // the run has gone on without this share: see refused()
  Chunk& chunk = chunks_[number];
  PACELINE_CHECK(!chunk.pushed && (options_.rows || holds(number)));
  // The same for all servers, and not before the first hears it: until then a lease may come, and
  // with it a read of the share that follows.
  if (unpushed_ == options_.chunks && options_.mode != Mode::kSync) {
    idle_ = leases_.empty();
    clock_ = clock_.value_or(0) + 1;
  }
  SendPush send;
  send.message.set_chunk(number);
  send.message.set_step(current_->share.step);
  send.message.mutable_tiles()->set_begin(current_->share.tiles.begin);
  send.message.mutable_tiles()->set_end(current_->share.tiles.end);
  send.message.set_weight(contribution.weight);
  send.message.set_loss(contribution.loss);
  send.message.set_correct(contribution.correct);
  send.message.set_predictions(contribution.predictions);
  send.message.set_examples(contribution.examples);
  send.message.set_scale(contribution.scale);
  send.message.set_last_lease(options_.mode != Mode::kSync && idle_);
  send.message.set_clock(clock_.value_or(0));
  send.base_version = options_.rows ? current_->share.step : *chunk.have;
  send.assignment_epoch = current_->epoch;
  chunk.pushed = true;
  if (options_.mode != Mode::kSync) {
    if (chunk.pushes++ == commits_ + uncommitted_.size()) {
      uncommitted_.push_back(current_->share.step);
    }
    ++chunk.answers;
  } else if (!options_.rows) {
    chunk.wanted = current_->share.step + 1;
  }
  actions_.push_back(std::move(send));
  if (--unpushed_ == 0) current_.reset();
  return actions_;
}

bool WorkerCore::superseded() const {
  return stopping_ || !current_ ||
         (!to_do_.empty() && to_do_.front().share.step < current_->share.step &&
          unpushed_ == options_.chunks);
}

void WorkerCore::set_aside() {
  if (current_) add_to_do(*std::exchange(current_, std::nullopt));
}

void WorkerCore::add_to_do(const Task& task) {
  const auto later =
      std::upper_bound(to_do_.begin(), to_do_.end(), task,
                       [](const Task& a, const Task& b) { return a.share.step < b.share.step; });
  to_do_.insert(later, task);
}

std::optional<Share> WorkerCore::after(const Share& share) const {
  if (options_.mode != Mode::kSync) {
    auto next = std::ranges::find(leases_, share.step);
    next = next == leases_.end() ? leases_.begin() : next + 1;
    if (next == leases_.end()) return std::nullopt;
    return options_.grid.whole(*next);
  }
  const std::uint64_t step = share.step + 1;
  const Assignment* assignment = assignments_.in_force(step);
  if (step >= options_.last_version || assignment == nullptr) return std::nullopt;
  return Share{step, assignment->tiles_for(options_.incarnation, options_.grid.tiles(step))};
}

// ---- commits of leases -----------------------------------------------------------------

// Every server acknowledges pushes in their order.
void WorkerCore::acknowledge(std::uint32_t number) {
  Chunk& chunk = chunks_.at(number);
  if (chunk.acknowledgments == chunk.pushes) return;
  ++chunk.acknowledgments;
  const bool by_all = std::ranges::all_of(
      chunks_, [this](const Chunk& other) { return other.acknowledgments > commits_; });
  if (!by_all) return;
  committed_.push_back(uncommitted_.front());
  uncommitted_.pop_front();
  ++commits_;
  report_commits(leases_.empty());
}

void WorkerCore::report_commits(bool all) {
  if (committed_.empty() || (!all && committed_.size() < options_.report_every)) return;
  wire::Committed message;
  std::sort(committed_.begin(), committed_.end());
  for (const std::uint64_t step : committed_) {
    const int last = message.steps_size() - 1;
    if (last >= 0 && message.steps(last).end() == step) {
      message.mutable_steps(last)->set_end(step + 1);
    } else {
      wire::Tiles& steps = *message.add_steps();
      steps.set_begin(step);
      steps.set_end(step + 1);
    }
  }
  committed_.clear();
  actions_.push_back(WordForChief{message});
}

}  // namespace paceline
