// What simulated workers do.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "sim/world.h"

namespace paceline::sim {

constexpr Word kTorn = 0xdead;  // parameters that are half old, half new

void World::start_worker(bool slow) {
  Worker& worker = workers_.emplace_back();
  worker.params.assign(all_chunks(), 0);
  worker.older.assign(all_chunks(), 0);
  worker.versions.assign(all_chunks(), 0);
  worker.speed = (0.5 + random_.uniform()) / (slow ? scenario_.slow : 1.0);
  register_member(Role::kWorker, worker.id);
}

void World::worker_get(Worker& worker, const ChiefMessage& message) {
  if (const auto* begin = std::get_if<wire::Begin>(&message)) {
    WorkerCore::Options options;
    options.mode = scenario_.mode;
    options.grid = scenario_.grid;
    options.chunks = all_chunks();
    options.incarnation = worker.id;
    options.version = begin->version();
    options.last_version = steps_;
    options.report_every = 2;
    options.rows = scenario_.rows;
    worker.core = std::make_unique<WorkerCore>(options);
    if (scenario_.rows) {
      const bool ahead = rows_are_read_ahead(scenario_.mode, scenario_.staleness);
      worker.reads = std::make_unique<RowReads>(
          RowReads::Options{scenario_.mode, scenario_.servers, ahead}, *worker.core);
    }
    worker.begun = true;
    if (scenario_.mode == Mode::kSync)
      worker_do(worker, worker.core->assignment(begin->assignment()));
  } else if (!worker.core) {
    return;
  } else if (const auto* assignment = std::get_if<wire::Assignment>(&message)) {
    worker_do(worker, worker.core->assignment(*assignment));
  } else if (const auto* prepare = std::get_if<wire::Prepare>(&message)) {
    worker_do(worker, worker.core->prepare(*prepare));
  } else if (const auto* lease = std::get_if<wire::Lease>(&message)) {
    worker_do(worker, worker.core->lease(*lease));
  } else if (std::holds_alternative<wire::Stop>(message)) {
    worker.core->stop();
  }
  wake(worker);
}

// Of one worker a server has to remember the reads of three shares: this, the next, one set aside.
constexpr std::size_t kMostReads = 3;

void World::pull_arrives(Server& server, std::uint32_t worker, const wire::Pull& pull, bool ahead) {
  if (pull.latest() && pull.chunk() != 0 && !pull.has_clock()) {
    problem(fmt::format("worker {} joins at chunk {} without its clock", worker, pull.chunk()));
  }
  if (scenario_.rows && pull.ticket() != 0) {
    const bool forgets = scenario_.mutation != Mutation::kRememberReads;
    for (const std::uint64_t ticket : pull.forget()) {
      if (forgets) server.tickets.forget(worker, ticket);
    }
    try {
      server.tickets.add(worker, pull.ticket(), {});
    } catch (const FrameError& error) {
      problem(error.what());
    }
    if (server.tickets.count(worker) > kMostReads) {
      problem(fmt::format("reads of worker {} are not forgotten", worker));
    }
  }
  const ServerCore::Actions actions = server.core->pull(worker, worker, pull);
  if (pull.latest() && !refuses(actions)) {
    Joined joined{pull.chunk(), worker, std::nullopt};
    if (pull.has_clock()) joined.clock = pull.clock();
    server.history.push_back(joined);
    if (scenario_.rows) server.history.push_back(Asked{pull.chunk(), worker, pull.ticket(), ahead});
  }
  server_do(server, actions);
}

void World::worker_do(Worker& worker, const WorkerCore::Actions& actions) {
  for (const WorkerAction& action : WorkerCore::Actions(actions)) {
    if (const auto* pull = std::get_if<SendPull>(&action)) {
      Server& server = server_of(pull->message.chunk());
      deliver(worker.id, server.id, said(pull->message),
              [this, &server, id = worker.id, pull = pull->message] {
                pull_arrives(server, id, pull, false);
              });
    } else if (const auto* push = std::get_if<SendPush>(&action)) {
      const std::uint32_t chunk = push->message.chunk();
      Server& server = server_of(chunk);
      const Sender sender{worker.id, worker.id, push->assignment_epoch, push->base_version};
      wire::Push message = push->message;
      if (worker.reads) message.set_ticket(worker.reads->current());
      deliver(
          worker.id, server.id,
          said(message, sender.assignment_epoch, sender.base_version, worker.grads[chunk].words),
          [this, &server, sender, message, payload = worker.grads[chunk]] {
            push_arrives(server, sender, message, payload);
          });
    } else if (const auto* aside = std::get_if<TakeAside>(&action)) {
      Worker::Value value = worker.aside.extract(aside->chunk).mapped();
      // Changes of another version than the one in memory make a mess of it.
      if (value.since && value.since != worker.versions[aside->chunk]) value.word = kTorn;
      const bool anyway = scenario_.mutation == Mutation::kInstallAnyway;
      if (aside->install || anyway) take(worker, aside->chunk, value);
    } else {
      deliver(worker.id, kChief, said(std::get<WordForChief>(action).message),
              [this, id = worker.id, tell = std::get<WordForChief>(action)] {
                if (const auto* prepared = std::get_if<wire::Prepared>(&tell.message)) {
                  chief_do(chief_->prepared(id, *prepared));
                } else {
                  chief_do(chief_->committed(id, std::get<wire::Committed>(tell.message)));
                }
              });
    }
  }
}

// ---- of tables: the rows of a share, and of the one that follows it

void World::expect_rows(Worker& worker) {
  ask(worker, worker.reads->expect(*worker.share));
  const auto next = worker.core->after(*worker.share);
  if (next && !next->tiles.empty()) ask(worker, worker.reads->expect(*next));
  std::erase_if(worker.rows, [&](const auto& entry) { return !worker.reads->keeps(entry.first); });
}

void World::ask(Worker& worker, const RowReads::Pulls& pulls) {
  const RowReads::Ticket current = worker.reads->current();
  for (const wire::Pull& pull : pulls) {
    Server& server = server_of(pull.chunk());
    const bool ahead = current != 0 && pull.ticket() != current;
    deliver(worker.id, server.id, said(pull), [this, &server, id = worker.id, pull, ahead] {
      pull_arrives(server, id, pull, ahead);
    });
  }
}

void World::rows_arrive(Worker& worker, const Params& params) {
  if (worker.reads->awaits(params.ticket, params.chunk)) {
    worker.rows[params.ticket][params.chunk] = {params.value, params.version, std::nullopt};
  }
  worker_do(worker, worker.core->params(params.chunk, params.version, params.clock));
  ask(worker, worker.reads->arrived(params.ticket, params.chunk));
  wake(worker);
}

bool World::rows_are_there(Worker& worker) {
  if (!worker.reads->complete()) return false;
  for (const auto& [chunk, value] : worker.rows.at(worker.reads->current())) {
    take(worker, chunk, value);
  }
  return true;
}

// ---- of chunks

void World::params_begin(Worker& worker, const Params& params) {
  const bool raw = !params.since && !scenario_.encoded;
  const bool lands = worker.core->arriving(params.chunk, {raw, params.since, params.clock});
  if (lands) worker.landing.insert(params.chunk);
  if (lands || scenario_.mutation == Mutation::kOverwriteInUse) worker.params[params.chunk] = kTorn;
}

void World::params_end(Worker& worker, const Params& params) {
  const Worker::Value value{params.value, params.version, params.since};
  if (worker.landing.erase(params.chunk) > 0) {
    take(worker, params.chunk, value);
  } else {
    worker.aside[params.chunk] = value;
  }
  worker_do(worker, worker.core->arrived(params.chunk, params.version));
  wake(worker);
}

void World::take(Worker& worker, std::uint32_t chunk, const Worker::Value& value) {
  if (worker.params[chunk] != value.word) worker.older[chunk] = worker.params[chunk];
  worker.params[chunk] = value.word;
  worker.versions[chunk] = value.version;
}

void World::install_aside(Worker& worker) {
  try {
    worker_do(worker, worker.core->install_aside());
  } catch (const FrameError& error) {
    problem(error.what());
  }
}

// ---- shares

void World::wake(Worker& worker) {
  at(0, [this, &worker] { work(worker); });
}

// The training thread: takes a share, waits for its parameters, computes, pushes.
void World::work(Worker& worker) {
  if (!worker.alive || !worker.begun || worker.computing || worker.over || ended_) return;
  if (worker.share && !worker.computed) {
    if (worker.core->superseded()) {
      worker.core->set_aside();
      if (worker.reads) worker.reads->set_aside();
      worker.share.reset();
      install_aside(worker);
    } else {
      begin_share(worker);
      return;
    }
  }
  if (worker.share) return;
  Share share;
  const WorkerCore::Next next = worker.core->next(share);
  worker_do(worker, worker.core->take_actions());
  if (next == WorkerCore::Next::kDone) {
    worker.over = true;
    if (worker.core->stopping()) leave(worker);
    return;
  }
  if (next == WorkerCore::Next::kWait) return;
  worker.share = share;
  worker.computed = false;
  if (worker.reads) expect_rows(worker);
  begin_share(worker);
}

void World::begin_share(Worker& worker) {
  bool all = !worker.reads || rows_are_there(worker);
  for (std::uint32_t chunk = 0; chunk < all_chunks() && !worker.reads; ++chunk) {
    worker_do(worker, worker.core->needs(chunk));
    all = all && worker.core->holds(chunk);
  }
  if (!all) return;
  // Gradients are computed from what is in memory when the computation ends, so that
  // parameters overwritten meanwhile would show.
  worker.computing = true;
  at(0.01 * (0.2 + random_.uniform()) / worker.speed, [this, &worker] {
    if (!worker.alive) return;
    const Share share = *worker.share;
    Words params = worker.params;
    if (!share.tiles.empty() && strikes(Mutation::kWrongBase)) params.back() = worker.older.back();
    worker.grads.clear();
    for (std::uint32_t chunk = 0; chunk < all_chunks(); ++chunk) {
      worker.grads.push_back(
          {contribution(params, share, chunk, scenario_.deterministic), worker.versions});
    }
    worker.computed = true;
    worker.next_chunk = 0;
    push_next(worker);
  });
}

void World::push_next(Worker& worker) {
  if (!worker.alive) return;
  if (++worker.pushes > worker.dies_at_push) return kill(worker, true);
  Contribution contribution;
  const Share share = *worker.share;
  contribution.examples = scenario_.grid.positions(share).size();
  contribution.weight = static_cast<double>(contribution.examples);
  const WorkerCore::Actions actions = worker.core->push(worker.next_chunk, contribution);
  worker_do(worker, actions);
  const bool pushed = !actions.empty();  // or the run has gone on without this share
  if (pushed && ++worker.next_chunk < all_chunks()) {
    at(0.001 * random_.uniform(), [this, &worker] { push_next(worker); });
  } else {
    end_share(worker, pushed);
  }
}

void World::end_share(Worker& worker, bool pushed) {
  worker.computing = false;
  worker.share.reset();
  if (worker.reads) ask(worker, worker.reads->finish(pushed));
  install_aside(worker);
  wake(worker);
}

// A death that is real ends the worker's links; one that is only believed does not. What is under
// way then is lost, or else arrives before the end of its link does.
void World::kill(Worker& worker, bool really) {
  if (really) {
    worker.alive = false;
    const bool abrupt = random_.below(2) == 0;
    if (abrupt) cut_.insert(worker.id);
    for (Server& server : servers_) {
      const auto end = [this, &server, id = worker.id] { link_ends(server, id); };
      if (abrupt) {
        at(0.03 * random_.uniform(), end);
      } else {
        deliver(worker.id, server.id, said(), end);
      }
    }
  }
  at(0.05 * random_.uniform(), [this, id = worker.id] {
    if (!ended_) chief_do(chief_->lost(id, CommError("killed by the simulation")));
  });
}

void World::link_ends(Server& server, std::uint32_t worker) {
  if (!server.core) return;
  server.history.push_back(Left{worker});
  server.tickets.forget(worker);
  server_do(server, server.core->client_gone(worker, worker));
}

// What it had begun is acknowledged everywhere when its answers have arrived.
void World::leave(Worker& worker) {
  worker.alive = false;
  at(0.06, [this, id = worker.id] {
    if (!ended_) chief_do(chief_->quiet(id));
  });
}

}  // namespace paceline::sim
