#include "sim/simulation.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/world.h"

namespace paceline::sim {

namespace {

std::vector<Words> reference(const Grid& grid, std::uint64_t steps, std::uint32_t chunks,
                             bool deterministic) {
  std::vector<Words> versions{Words(chunks, kStart)};
  for (std::uint64_t step = 0; step < steps; ++step) {
    const Words now = versions.back();
    Words next(chunks);
    for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
      next[chunk] =
          applied(now[chunk], step_sum(now, step, grid.tiles(step), chunk, deterministic));
    }
    versions.push_back(next);
  }
  return versions;
}

}  // namespace

World::World(const Scenario& scenario)
    : scenario_(scenario),
      random_(mix(scenario.seed)),
      steps_(scenario.grid.steps_per_epoch() * scenario.epochs) {
  if (scenario_.mode == Mode::kSync) {
    reference_ = reference(scenario_.grid, steps_, all_chunks(), scenario_.deterministic);
  }
  replay_.start(all_chunks(), scenario_.version, kStart);
  ChiefCore::Options options;
  options.mode = scenario_.mode;
  options.grid = scenario_.grid;
  options.servers = scenario_.servers;
  options.workers = scenario_.workers;
  options.evaluators = 1;
  options.last_version = steps_;
  options.lease_block = 4;
  options.most_pins = 2;
  options.version = scenario_.version;
  for (const Range& range : scenario_.applied) {
    for (std::uint64_t step = range.begin; step < range.end; ++step) options.applied.add(step);
  }
  outcome_.saved_version = scenario_.version;
  chief_ = std::make_unique<ChiefCore>(options);
}

void World::at(double delay, std::function<void()> work) {
  queue_.push({now_ + delay, scheduled_++, std::move(work)});
}

// Messages of one link keep their order; a cut link loses what is still under way.
void World::deliver(std::uint32_t from, std::uint32_t to, std::string said,
                    std::function<void()> work) {
  if (scenario_.record) outcome_.messages.push_back({now_, from, to, std::move(said)});
  if (cut_.contains(from)) return;
  double& free = link_free_[{from, to}];
  free = std::max(free, now_ + random_delay());
  queue_.push({free, scheduled_++, [this, from, to, work = std::move(work)] {
                 if (!cut_.contains(to) && !cut_.contains(from)) work();
               }});
}

// Whether the planted bug strikes now: once in a run, at a moment that the seed chooses.
bool World::strikes(Mutation mutation) {
  if (scenario_.mutation != mutation || outcome_.struck) return false;
  outcome_.struck = chances_++ == scenario_.seed % 11;
  return outcome_.struck;
}

// ---- chief -----------------------------------------------------------------------------

void World::register_member(Role role, std::uint32_t& incarnation) {
  chief_do(chief_->registered(role, fmt::format("member{}", incarnation), "", incarnation));
}

void World::chief_do(const ChiefCore::Actions& actions) {
  for (const ChiefAction& action : ChiefCore::Actions(actions)) {
    if (const auto* send = std::get_if<SendToMember>(&action)) {
      deliver(kChief, send->incarnation, said(send->message),
              [this, send = *send] { to_member(send.incarnation, send.message); });
    } else if (const auto* checkpoint = std::get_if<SaveCheckpoint>(&action)) {
      at(random_delay(), [this, version = checkpoint->version] { save(version); });
    } else if (const auto* progress = std::get_if<Progressed>(&action)) {
      outcome_.examples = progress->examples;
    } else if (const auto* trained = std::get_if<EpochTrained>(&action)) {
      outcome_.last_epoch = trained->version;
    } else if (const auto* notice = std::get_if<Notice>(&action)) {
      if (notice->text.starts_with("assignment")) ++outcome_.assignments;
    } else if (const auto* end = std::get_if<RunEnded>(&action)) {
      ended_ = true;
      outcome_.ended = end->failure ? end->failure->what() : "";
      outcome_.interrupted = end->interrupted;
    }
  }
}

void World::to_member(std::uint32_t incarnation, const ChiefMessage& message) {
  if (incarnation == evaluator_) {
    if (const auto* request = std::get_if<wire::Evaluate>(&message)) evaluate(*request);
    return;
  }
  for (Server& server : servers_) {
    if (server.id == incarnation) return server_get(server, message);
  }
  for (Worker& worker : workers_) {
    if (worker.id == incarnation && worker.alive) return worker_get(worker, message);
  }
}

// Reads the pinned version from every server, as the evaluator and the checkpoint do.
void World::save(std::uint64_t version) {
  for (Server& server : servers_) {
    for (auto& [chunk, stored] : server.store) {
      const auto found = stored.versions.find(version);
      if (found == stored.versions.end()) {
        problem(fmt::format("version {} of chunk {} is gone before it is saved", version, chunk));
      } else if (scenario_.mode == Mode::kSync && found->second != reference_[version][chunk]) {
        problem(fmt::format("version {} of chunk {} differs from one process's", version, chunk));
      }
    }
  }
  if (scenario_.saves_fail) {
    chief_do(chief_->save_failed(version, DataError("the simulation's disk is full")));
    return;
  }
  if (outcome_.saved_version == version) problem(fmt::format("{} is saved twice", version));
  outcome_.saved_version = version;
  chief_do(chief_->saved(version));
}

void World::evaluate(const wire::Evaluate& request) {
  at(random_delay(), [this, request] {
    for (Server& server : servers_) {
      for (auto& [chunk, stored] : server.store) {
        if (!stored.versions.contains(request.version())) {
          problem(fmt::format("version {} is gone before it is tested", request.version()));
        }
      }
    }
    wire::Evaluated evaluated;
    evaluated.set_version(request.version());
    deliver(evaluator_, kChief, said(evaluated),
            [this, evaluated] { chief_do(chief_->evaluated(evaluated)); });
  });
}

// ---- the whole run ---------------------------------------------------------------------

Outcome World::run() {
  servers_.resize(scenario_.servers);
  for (Server& server : servers_) register_member(Role::kServer, server.id);
  register_member(Role::kEvaluator, evaluator_);
  for (std::uint32_t i = 0; i < scenario_.workers; ++i) start_worker(i + 1 == scenario_.workers);
  const std::uint64_t pushes = std::max<std::uint64_t>(
      1, steps_ * all_chunks() / (scenario_.mode == Mode::kSync ? 1 : scenario_.workers));
  for (std::uint32_t i = 0; i < scenario_.deaths; ++i) {
    workers_[(scenario_.seed + i) % scenario_.workers].dies_at_push = random_.below(pushes);
  }
  const double duration = static_cast<double>(steps_) * 0.03;
  for (std::uint32_t i = 0; i < scenario_.false_deaths; ++i) {
    at(duration * random_.uniform(), [this, i] {
      const std::uint64_t spared = scenario_.seed + scenario_.deaths + i;
      Worker& worker = workers_[spared % scenario_.workers];
      if (worker.alive && chief_->started() && !ended_) kill(worker, false);
    });
  }
  for (std::uint32_t i = 0; i < scenario_.joins; ++i) {
    at(duration * random_.uniform(), [this] {
      if (!ended_) start_worker(false);
    });
  }
  if (scenario_.stop_at > 0) {
    at(scenario_.stop_at, [this] {
      chief_do(scenario_.diverges ? chief_->fail(Error("the loss is infinite", ExitCode::kDiverged))
                                  : chief_->stop());
    });
  }
  constexpr std::uint64_t kMostEvents = 400'000;
  while (!queue_.empty() && !ended_ && outcome_.events < kMostEvents) {
    const Timed next = queue_.top();
    queue_.pop();
    now_ = next.time;
    ++outcome_.events;
    next.work();
  }
  if (!ended_) problem("the run hangs: nothing is under way, or it never ends");
  for (Server& server : servers_) {
    std::vector<Range> before = scenario_.applied;
    if (before.empty()) before.push_back({0, scenario_.version});
    Rules rules{scenario_.mode, scenario_.grid, scenario_.staleness,
                before,         steps_,         outcome_.ended.empty() && !outcome_.interrupted};
    for (std::string& found : check(rules, server.chunks, server.history)) problem(found);
    outcome_.histories.push_back(std::move(server.history));
  }
  if (outcome_.ended.empty() && !outcome_.interrupted &&
      chief_->examples_done() != scenario_.grid.examples * scenario_.epochs) {
    problem(fmt::format("{} examples were counted", chief_->examples_done()));
  }
  outcome_.applied = chief_->leases_done().ranges();
  return std::move(outcome_);
}

Outcome simulate(const Scenario& scenario) {
  return World(scenario).run();
}

}  // namespace paceline::sim
