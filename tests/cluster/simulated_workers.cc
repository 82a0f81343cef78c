// What simulated workers do.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "cluster/world.h"

namespace paceline::sim {

void World::start_worker(bool slow) {
  Worker& worker = workers_.emplace_back();
  worker.params.assign(all_chunks(), 0);
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
    worker.core = std::make_unique<WorkerCore>(options);
    worker.begun = true;
    if (scenario_.mode == Mode::kSync) worker_do(worker, worker.core->plan(begin->plan()));
  } else if (!worker.core) {
    return;
  } else if (const auto* plan = std::get_if<wire::Plan>(&message)) {
    worker_do(worker, worker.core->plan(*plan));
  } else if (const auto* prepare = std::get_if<wire::Prepare>(&message)) {
    worker_do(worker, worker.core->prepare(*prepare));
  } else if (const auto* lease = std::get_if<wire::Lease>(&message)) {
    worker_do(worker, worker.core->lease(*lease));
  } else if (std::holds_alternative<wire::Stop>(message)) {
    worker.core->stop();
  }
  wake(worker);
}

void World::worker_do(Worker& worker, const WorkerCore::Actions& actions) {
  for (const WorkerAction& action : WorkerCore::Actions(actions)) {
    if (const auto* pull = std::get_if<SendPull>(&action)) {
      Server& server = server_of(pull->message.chunk());
      deliver(worker.id, server.id, [this, &server, id = worker.id, pull = pull->message] {
        if (pull.latest()) server.history.push_back(Joined{pull.chunk(), id});
        server_do(server, server.core->pull(id, id, pull));
      });
    } else if (const auto* push = std::get_if<SendPush>(&action)) {
      const std::uint32_t chunk = push->message.chunk();
      Server& server = server_of(chunk);
      const Sender sender{worker.id, worker.id, push->plan_epoch, push->base_version};
      deliver(worker.id, server.id,
              [this, &server, sender, push = push->message, payload = worker.grads[chunk]] {
                push_arrives(server, sender, push, payload);
              });
    } else {
      deliver(worker.id, kChief, [this, id = worker.id, tell = std::get<WordForChief>(action)] {
        if (const auto* prepared = std::get_if<wire::Prepared>(&tell.message)) {
          chief_do(chief_->prepared(id, *prepared));
        } else {
          chief_do(chief_->committed(id, std::get<wire::Committed>(tell.message)));
        }
      });
    }
  }
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
    worker.params[chunk] = params.value;
    worker_do(worker, worker.core->params(chunk, params.version));
  } else {
    worker.staged.at(chunk) = {params.value, params.since, params.version};
    if (worker.core->may_land(chunk)) install(worker, chunk);
  }
  wake(worker);
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
  bool all = true;
  for (std::uint32_t chunk = 0; chunk < all_chunks(); ++chunk) {
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
    worker.grads.assign(all_chunks(), 0);
    for (std::uint32_t chunk = 0; chunk < all_chunks(); ++chunk) {
      for (std::uint64_t tile = share.tiles.begin; tile < share.tiles.end; ++tile) {
        worker.grads[chunk] += gradient(worker.params, share.step, tile, chunk);
      }
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
  worker.params[chunk] = staged.value;
  worker_do(worker, worker.core->params(chunk, *staged.version));
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
