// What simulated workers do.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "cluster/world.h"

namespace paceline::sim {

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

void World::pull_arrives(Server& server, std::uint32_t worker, const wire::Pull& pull, bool ahead) {
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
      deliver(worker.id, server.id,
              said(push->message, sender.assignment_epoch, sender.base_version,
                   worker.grads[chunk].words),
              [this, &server, sender, push = push->message, payload = worker.grads[chunk]] {
                push_arrives(server, sender, push, payload);
              });
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

World::Worker::RowRead& World::read_of(Worker& worker, const Share& share) {
  for (Worker::RowRead& read : worker.reads) {
    if (read.share == share) return read;
  }
  if (worker.reads.size() == 3) {  // the oldest that is not in use
    worker.reads.erase(worker.reads.begin() + (worker.reads[0].share == worker.share ? 1 : 0));
  }
  Worker::RowRead& read = worker.reads.emplace_back();
  read.share = share;
  read.ticket = ++worker.tickets;
  return read;
}

// A worker that joins asks the first server alone: its clock comes with the answer.
void World::ask(Worker& worker, Worker::RowRead& read, bool ahead) {
  if (std::exchange(read.sent, true)) return;
  read.ahead = ahead;
  read.joins = scenario_.mode != Mode::kSync && !worker.core->clock();
  for (std::uint32_t chunk = 0; chunk < (read.joins ? 1 : all_chunks()); ++chunk) {
    ask_one(worker, read, chunk);
  }
}

void World::ask_one(Worker& worker, const Worker::RowRead& read, std::uint32_t chunk) {
  wire::Pull pull;
  pull.set_chunk(chunk);
  pull.set_ticket(read.ticket);
  pull.set_version(read.share.step);
  pull.set_latest(scenario_.mode != Mode::kSync);
  if (worker.core->clock()) pull.set_clock(*worker.core->clock());
  Server& server = server_of(chunk);
  deliver(worker.id, server.id, said(pull),
          [this, &server, id = worker.id, pull, ahead = read.ahead] {
            pull_arrives(server, id, pull, ahead);
          });
}

bool World::rows_are_there(Worker& worker) {
  ask(worker, read_of(worker, *worker.share), false);
  const auto next = worker.core->after(*worker.share);
  if (next && !next->tiles.empty()) {
    Worker::RowRead& read = read_of(worker, *next);
    if (reads_ahead()) ask(worker, read, true);
  }
  const Worker::RowRead& read = read_of(worker, *worker.share);
  for (const auto& [chunk, value] : read.values) take(worker, chunk, value.first, value.second);
  return read.values.size() == all_chunks();
}

void World::rows_arrive(Worker& worker, const Params& params) {
  for (Worker::RowRead& read : worker.reads) {
    if (read.ticket == params.ticket) read.values[params.chunk] = {params.value, params.version};
  }
  worker_do(worker, worker.core->params(params.chunk, params.version, params.clock));
  for (Worker::RowRead& read : worker.reads) {
    if (!worker.core->clock() || !std::exchange(read.joins, false)) continue;
    for (std::uint32_t chunk = 1; chunk < all_chunks(); ++chunk) ask_one(worker, read, chunk);
  }
  wake(worker);
}

// Of the share that was pushed; what was not to be asked for before is asked for now.
void World::finish_read(Worker& worker) {
  std::erase_if(worker.reads,
                [&](const Worker::RowRead& read) { return read.share == *worker.share; });
  for (Worker::RowRead& read : worker.reads) ask(worker, read, false);
}

constexpr Word kTorn = 0xdead;  // parameters that are half old, half new

void World::params_begin(Worker& worker, const Params& params) {
  const std::uint32_t chunk = params.chunk;
  const bool may_land = !params.since && worker.core->may_land(chunk);
  if (may_land || scenario_.mutation == Mutation::kOverwriteInUse) worker.params[chunk] = kTorn;
  if (may_land) {
    worker.aside.erase(chunk);
    worker.core->landing(chunk);
  } else {
    worker.aside.insert(chunk);
    worker.staged[chunk] = {};
  }
}

void World::params_end(Worker& worker, const Params& params) {
  const std::uint32_t chunk = params.chunk;
  if (!worker.aside.contains(chunk)) {
    take(worker, chunk, params.value, params.version);
    worker_do(worker, worker.core->params(chunk, params.version, params.clock));
  } else {
    worker.staged.at(chunk) = {params.value, params.since, params.version, params.clock};
    if (worker.core->may_land(chunk)) install(worker, chunk);
  }
  wake(worker);
}

void World::take(Worker& worker, std::uint32_t chunk, Word value, std::uint64_t version) {
  if (worker.params[chunk] != value) worker.older[chunk] = worker.params[chunk];
  worker.params[chunk] = value;
  worker.versions[chunk] = version;
}

void World::wake(Worker& worker) {
  at(0, [this, &worker] { work(worker); });
}

// The training thread: takes a share, waits for its parameters, computes, pushes.
void World::work(Worker& worker) {
  if (!worker.alive || !worker.begun || worker.computing || worker.over || ended_) return;
  if (worker.share && !worker.computed) {
    if (worker.core->superseded()) {
      worker.core->set_aside();
      worker.share.reset();
      install_staged(worker);
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
  begin_share(worker);
}

void World::begin_share(Worker& worker) {
  bool all = !scenario_.rows || rows_are_there(worker);
  for (std::uint32_t chunk = 0; chunk < all_chunks() && !scenario_.rows; ++chunk) {
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
  worker_do(worker, worker.core->push(worker.next_chunk, contribution));
  if (++worker.next_chunk < all_chunks()) {
    at(0.001 * random_.uniform(), [this, &worker] { push_next(worker); });
    return;
  }
  worker.computing = false;
  if (scenario_.rows) finish_read(worker);
  worker.share.reset();
  install_staged(worker);
  wake(worker);
}

void World::install_staged(Worker& worker) {
  std::vector<std::uint32_t> arrived;
  for (const auto& [chunk, staged] : worker.staged) {
    if (staged.version) arrived.push_back(chunk);
  }
  for (const std::uint32_t chunk : arrived) install(worker, chunk);
}

void World::install(Worker& worker, std::uint32_t chunk) {
  const Worker::Staged staged = worker.staged.extract(chunk).mapped();
  const auto here = worker.core->version(chunk);
  if (staged.since && here != staged.since && here != staged.version) {
    if (scenario_.mode == Mode::kSync) {
      return worker_do(worker, worker.core->missed(chunk, *staged.version));
    }
    return problem(fmt::format("changes since version {} of chunk {} came to worker {}",
                               *staged.since, chunk, worker.id));
  }
  take(worker, chunk, staged.value, *staged.version);
  worker_do(worker, worker.core->params(chunk, *staged.version, staged.clock));
}

// A death that is real cuts the worker's links; one that is only believed does not.
void World::kill(Worker& worker, bool really) {
  if (really) {
    worker.alive = false;
    if (random_.below(2) == 0) {
      cut_.insert(worker.id);  // what is under way is lost
    } else {
      at(0.05, [this, &worker] { cut_.insert(worker.id); });  // it still arrives
    }
    at(0.03 * random_.uniform(), [this, &worker] {
      for (Server& server : servers_) {
        if (!server.core) continue;
        server.history.push_back(Left{worker.id});
        server_do(server, server.core->client_gone(worker.id, worker.id));
      }
    });
  }
  at(0.05 * random_.uniform(), [this, id = worker.id] {
    if (!ended_) chief_do(chief_->lost(id, "killed by the simulation"));
  });
}

// What it had begun is acknowledged everywhere when its answers have arrived.
void World::leave(Worker& worker) {
  worker.alive = false;
  at(0.06, [this, id = worker.id] {
    if (!ended_) chief_do(chief_->quiet(id));
  });
}

}  // namespace paceline::sim
