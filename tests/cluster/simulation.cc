#include "cluster/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>

#include "base/error.h"
#include "base/random.h"
#include "cluster/chief_core.h"
#include "cluster/history.h"
#include "exchange/ps/server_core.h"
#include "exchange/ps/worker_core.h"

namespace paceline::sim {
namespace {

using Word = std::uint64_t;

// What a tile contributes to one chunk, given all parameters.
Word gradient(const std::vector<Word>& params, std::uint64_t step, std::uint64_t tile,
              std::uint32_t chunk) {
  Word state = random_bits(step, {tile, chunk});
  for (const Word word : params) state = mix(state ^ word);
  return state;
}

Word applied(Word before, Word sum) {
  return mix(before) + sum;
}

std::vector<std::vector<Word>> reference(const Grid& grid, std::uint64_t steps,
                                         std::uint32_t chunks) {
  std::vector<std::vector<Word>> versions{std::vector<Word>(chunks, 7)};
  for (std::uint64_t step = 0; step < steps; ++step) {
    const std::vector<Word> now = versions.back();
    std::vector<Word> next(chunks);
    for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
      Word sum = 0;
      for (std::uint64_t tile = 0; tile < grid.tiles(step); ++tile) {
        sum += gradient(now, step, tile, chunk);
      }
      next[chunk] = applied(now[chunk], sum);
    }
    versions.push_back(next);
  }
  return versions;
}

class World {
 public:
  explicit World(const Scenario& scenario);
  Outcome run();

 private:
  struct Server {
    std::uint32_t id = 0;
    std::unique_ptr<ServerCore> core;
    std::vector<std::uint32_t> chunks;
    struct Stored {
      std::map<std::uint64_t, Word> versions;  // current, the one before, and pinned
      std::uint64_t current = 0;
      Word sum = 0;
    };
    std::map<std::uint32_t, Stored> store;
    std::set<std::uint64_t> pins;
    std::vector<Event> history;
  };
  struct Worker {
    std::uint32_t id = 0;
    std::unique_ptr<WorkerCore> core;
    std::vector<Word> params;
    struct Staged {
      Word value = 0;
      std::optional<std::uint64_t> version;  // once it has arrived
    };
    std::map<std::uint32_t, Staged> staged;  // by chunk
    std::set<std::uint32_t> aside;           // chunks whose arriving parameters are staged
    std::optional<Share> share;
    std::vector<Word> grads;
    std::uint32_t next_chunk = 0;
    bool computing = false;
    bool computed = false;
    bool alive = true;
    bool begun = false;
    bool over = false;
    double speed = 1;
    std::uint64_t pushes = 0;
    std::uint64_t dies_at_push = ~std::uint64_t{0};
  };

  // ---- scheduler
  void at(double delay, std::function<void()> work);
  void deliver(std::uint32_t from, std::uint32_t to, std::function<void()> work);
  double random_delay() { return 0.0005 + 0.02 * random_.uniform() * random_.uniform(); }
  void problem(std::string text) { outcome_.problems.push_back(std::move(text)); }

  // ---- chief
  void register_member(Role role, std::uint32_t& incarnation);
  void chief_do(const ChiefCore::Actions& actions);
  void to_member(std::uint32_t incarnation, const ChiefMessage& message);
  void save(std::uint64_t version);
  void evaluate(const wire::Evaluate& evaluate);

  // ---- servers
  void server_get(Server& server, const ChiefMessage& message);
  void server_do(Server& server, const ServerCore::Actions& actions, const Sender* sender = nullptr,
                 const wire::Push* push = nullptr, Word payload = 0);
  void store_version(Server& server, std::uint32_t chunk, std::uint64_t version, Word value);
  void send_params(Server& server, const SendParams& send);
  void push_arrives(Server& server, const Sender& sender, const wire::Push& push, Word payload);

  // ---- workers
  void start_worker(bool slow);
  void worker_get(Worker& worker, const ChiefMessage& message);
  void worker_do(Worker& worker, const WorkerCore::Actions& actions);
  void params_begin(Worker& worker, std::uint32_t chunk);
  void params_end(Worker& worker, std::uint32_t chunk, std::uint64_t version, Word value);
  void install(Worker& worker, std::uint32_t chunk);
  void install_staged(Worker& worker);
  void wake(Worker& worker);
  void work(Worker& worker);
  void begin_share(Worker& worker);
  void push_next(Worker& worker);
  void kill(Worker& worker, bool really);
  void leave(Worker& worker);

  Server& server_of(std::uint32_t chunk) { return servers_[chunk % scenario_.servers]; }
  std::uint32_t all_chunks() const { return scenario_.servers * scenario_.chunks_per_server; }

  struct Timed {
    double time;
    std::uint64_t number;
    std::function<void()> work;
    bool operator>(const Timed& other) const {
      return time != other.time ? time > other.time : number > other.number;
    }
  };

  Scenario scenario_;
  Random random_;
  std::uint64_t steps_;
  double now_ = 0;
  std::uint64_t scheduled_ = 0;
  std::priority_queue<Timed, std::vector<Timed>, std::greater<>> queue_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> link_free_;
  std::set<std::uint32_t> cut_;  // incarnations whose links are cut

  std::unique_ptr<ChiefCore> chief_;
  std::vector<Server> servers_;
  std::deque<Worker> workers_;
  std::uint32_t evaluator_ = 0;
  std::vector<std::vector<Word>> reference_;
  bool ended_ = false;
  Outcome outcome_;
};

constexpr std::uint32_t kChief = 0;

World::World(const Scenario& scenario)
    : scenario_(scenario),
      random_(mix(scenario.seed)),
      steps_(scenario.grid.steps_per_epoch() * scenario.epochs) {
  if (scenario_.mode == Mode::kSync) reference_ = reference(scenario_.grid, steps_, all_chunks());
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
void World::deliver(std::uint32_t from, std::uint32_t to, std::function<void()> work) {
  if (cut_.contains(from)) return;
  double& free = link_free_[{from, to}];
  free = std::max(free, now_ + random_delay());
  queue_.push({free, scheduled_++, [this, from, to, work = std::move(work)] {
                 if (!cut_.contains(to) && !cut_.contains(from)) work();
               }});
}

// ---- chief -----------------------------------------------------------------------------

void World::register_member(Role role, std::uint32_t& incarnation) {
  chief_do(chief_->registered(role, fmt::format("member{}", incarnation), "", incarnation));
}

void World::chief_do(const ChiefCore::Actions& actions) {
  for (const ChiefAction& action : ChiefCore::Actions(actions)) {
    if (const auto* send = std::get_if<SendToMember>(&action)) {
      deliver(kChief, send->incarnation,
              [this, send = *send] { to_member(send.incarnation, send.message); });
    } else if (const auto* checkpoint = std::get_if<SaveCheckpoint>(&action)) {
      at(random_delay(), [this, version = checkpoint->version] { save(version); });
    } else if (const auto* progress = std::get_if<Progressed>(&action)) {
      outcome_.examples = progress->examples;
    } else if (const auto* notice = std::get_if<Notice>(&action)) {
      if (notice->text.starts_with("plan")) ++outcome_.plans;
    } else if (const auto* end = std::get_if<RunEnded>(&action)) {
      ended_ = true;
      outcome_.ended = end->error;
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
    chief_do(chief_->save_failed(version, "the simulation's disk is full"));
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
    deliver(evaluator_, kChief, [this, evaluated] { chief_do(chief_->evaluated(evaluated)); });
  });
}

// ---- servers ---------------------------------------------------------------------------

void World::server_get(Server& server, const ChiefMessage& message) {
  if (const auto* setup = std::get_if<wire::Setup>(&message)) {
    ServerCore::Options options;
    options.mode = scenario_.mode;
    options.grid = scenario_.grid;
    options.rules.nonfinite = Nonfinite::kIgnore;
    options.rules.clip = scenario_.whole_step ? 1e300 : 0;
    options.servers = scenario_.servers;
    options.staleness = scenario_.staleness;
    options.last_version = steps_;
    options.most_pins = 2;
    for (std::uint32_t chunk = setup->index(); chunk < all_chunks(); chunk += scenario_.servers) {
      options.chunks.push_back(chunk);
      Server::Stored& stored = server.store[chunk];
      stored.current = scenario_.version;
      stored.versions[stored.current] =
          scenario_.mode == Mode::kSync ? reference_[stored.current][chunk] : 7;
    }
    options.version = scenario_.version;
    options.applied = scenario_.applied;
    server.chunks = options.chunks;
    server.core = std::make_unique<ServerCore>(options);
    deliver(server.id, kChief, [this, id = server.id] { chief_do(chief_->ready(id)); });
  } else if (const auto* fence = std::get_if<wire::Fence>(&message)) {
    for (const std::uint32_t dead : fence->dead()) server.history.push_back(Left{dead});
    server_do(server, server.core->fence(*fence));
  } else if (const auto* pin = std::get_if<wire::Pin>(&message)) {
    server_do(server, server.core->pin(pin->version()));
  } else if (const auto* unpin = std::get_if<wire::Unpin>(&message)) {
    server_do(server, server.core->unpin(unpin->version()));
  } else if (const auto* verdict = std::get_if<wire::Verdict>(&message)) {
    server_do(server, server.core->verdict(*verdict));
  } else if (std::holds_alternative<wire::Stop>(message) && server.core && !ended_) {
    server_do(server, server.core->stop());
  }
}

void World::store_version(Server& server, std::uint32_t chunk, std::uint64_t version, Word value) {
  Server::Stored& stored = server.store.at(chunk);
  const std::uint64_t before = stored.current;
  stored.versions[version] = value;
  stored.current = version;
  std::erase_if(stored.versions, [&](const auto& entry) {
    const bool previous = scenario_.mode == Mode::kSync && entry.first == before;
    return entry.first != version && !previous && !server.pins.contains(entry.first);
  });
}

void World::server_do(Server& server, const ServerCore::Actions& actions, const Sender* sender,
                      const wire::Push* push, Word payload) {
  std::optional<std::uint64_t> measure;
  for (const ServerAction& action : ServerCore::Actions(actions)) {
    if (const auto* add = std::get_if<Accumulate>(&action)) {
      Server::Stored& stored = server.store.at(add->chunk);
      stored.sum = add->first ? payload : stored.sum + payload;
      server.history.push_back(
          Added{add->chunk, push->step(), {push->tiles().begin(), push->tiles().end()}});
    } else if (const auto* apply = std::get_if<Apply>(&action)) {
      Server::Stored& stored = server.store.at(apply->chunk);
      const Word sum = scenario_.mode == Mode::kSync ? stored.sum : payload;
      server.history.push_back(Applied{apply->chunk, apply->step, apply->version});
      store_version(server, apply->chunk, apply->version,
                    applied(stored.versions.at(stored.current), sum));
    } else if (const auto* step = std::get_if<MeasureStep>(&action)) {
      measure = step->step;
    } else if (const auto* pin = std::get_if<PinVersion>(&action)) {
      server.pins.insert(pin->version);
      for (auto& [chunk, stored] : server.store) {
        if (!stored.versions.contains(pin->version)) problem("a pinned version is not there");
      }
    } else if (const auto* release = std::get_if<ReleaseVersion>(&action)) {
      server.pins.erase(release->version);
    } else if (const auto* params = std::get_if<SendParams>(&action)) {
      send_params(server, *params);
    } else if (const auto* reply = std::get_if<SendToClient>(&action)) {
      deliver(server.id, reply->client, [this, reply = *reply] {
        for (Worker& worker : workers_) {
          if (worker.id != reply.client || !worker.alive) continue;
          try {
            if (const auto* ack = std::get_if<wire::Ack>(&reply.message)) {
              worker_do(worker, worker.core->ack(*ack));
            } else {
              const auto& refusal = std::get<wire::Refusal>(reply.message);
              worker_do(worker, worker.core->refused(refusal));
              wake(worker);
            }
          } catch (const CommError& error) {
            if (std::get<wire::Refusal>(reply.message).reason() != wire::Refusal::FENCED) {
              problem(error.what());
            }
            worker.alive = false;
            cut_.insert(worker.id);
          }
        }
      });
    } else if (const auto* tell = std::get_if<SendToChief>(&action)) {
      auto message = tell->message;
      if (auto* fenced = std::get_if<wire::Fenced>(&message);
          fenced && scenario_.mutation == Mutation::kForgetTouched) {
        fenced->set_untouched(fenced->open());
      }
      deliver(server.id, kChief, [this, id = server.id, message] {
        if (const auto* complete = std::get_if<wire::Complete>(&message)) {
          chief_do(chief_->complete(id, *complete));
        } else if (const auto* fenced = std::get_if<wire::Fenced>(&message)) {
          chief_do(chief_->fenced(id, *fenced));
        } else if (const auto* scalars = std::get_if<wire::Scalars>(&message)) {
          chief_do(chief_->scalars(id, *scalars));
        } else {
          chief_do(chief_->stopped(id, std::get<wire::Stopped>(message)));
        }
      });
    }
  }
  if (measure) server_do(server, server.core->measured(*measure, 1.0, true), sender, push, payload);
}

void World::send_params(Server& server, const SendParams& send) {
  Server::Stored& stored = server.store.at(send.chunk);
  const auto found = stored.versions.find(send.version);
  if (found == stored.versions.end()) {
    return problem(
        fmt::format("version {} of chunk {} was promised but is gone", send.version, send.chunk));
  }
  server.history.push_back(Read{send.chunk, send.client});
  // Parameters take their time to arrive: much can happen between their first byte and
  // their last.
  const auto at_worker = [this, client = send.client](const std::function<void(Worker&)>& work) {
    for (Worker& worker : workers_) {
      if (worker.id == client && worker.alive) work(worker);
    }
  };
  deliver(server.id, send.client, [this, at_worker, send] {
    at_worker([&](Worker& worker) { params_begin(worker, send.chunk); });
  });
  deliver(server.id, send.client, [this, at_worker, send, value = found->second] {
    at_worker([&](Worker& worker) { params_end(worker, send.chunk, send.version, value); });
  });
}

void World::push_arrives(Server& server, const Sender& sender, const wire::Push& push,
                         Word payload) {
  if (scenario_.mode != Mode::kSync) {
    server.history.push_back(Ticked{push.chunk(), sender.incarnation, push.idle()});
  }
  const auto& actions = server.core->push(sender, push);
  const bool taken = std::any_of(actions.begin(), actions.end(), [](const ServerAction& action) {
    return std::holds_alternative<Accumulate>(action) || std::holds_alternative<Apply>(action);
  });
  const auto waits = [](const ServerAction& action) {
    const auto* reply = std::get_if<SendToClient>(&action);
    return reply != nullptr && std::holds_alternative<wire::Ack>(reply->message);
  };
  const bool held = std::any_of(actions.begin(), actions.end(), waits);
  const std::uint64_t version = server.store.at(push.chunk()).current;
  server_do(server, actions, &sender, &push, payload);
  if (!taken) {
    ++outcome_.duplicates;
    if (scenario_.mutation == Mutation::kCountDuplicates && scenario_.mode == Mode::kSync) {
      server.store.at(push.chunk()).sum += payload;
      server.history.push_back(
          Added{push.chunk(), push.step(), {push.tiles().begin(), push.tiles().end()}});
    } else if (scenario_.mutation == Mutation::kCountDuplicates) {
      server.history.push_back(Applied{push.chunk(), push.step(), version + 1});
    }
  }
  if (held && scenario_.mutation == Mutation::kReleaseReaders) {
    send_params(server, {sender.client, push.chunk(),
                         std::max(version, server.store.at(push.chunk()).current), false});
  }
}

// ---- workers ---------------------------------------------------------------------------

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

void World::params_begin(Worker& worker, std::uint32_t chunk) {
  const bool may_land = worker.core->may_land(chunk);
  if (may_land || scenario_.mutation == Mutation::kOverwriteInUse) worker.params[chunk] = kTorn;
  if (may_land) {
    worker.aside.erase(chunk);
    worker.core->landing(chunk);
  } else {
    worker.aside.insert(chunk);
    worker.staged[chunk] = {};
  }
}

void World::params_end(Worker& worker, std::uint32_t chunk, std::uint64_t version, Word value) {
  if (!worker.aside.contains(chunk)) {
    worker.params[chunk] = value;
    worker_do(worker, worker.core->params(chunk, version));
  } else {
    worker.staged.at(chunk) = {value, version};
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
    at(scenario_.stop_at, [this] { chief_do(chief_->stop("stopped by the simulation")); });
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
  }
  if (outcome_.ended.empty() && !outcome_.interrupted &&
      chief_->examples_done() != scenario_.grid.examples * scenario_.epochs) {
    problem(fmt::format("{} examples were counted", chief_->examples_done()));
  }
  outcome_.applied = chief_->leases_done().ranges();
  return std::move(outcome_);
}

}  // namespace

Outcome simulate(const Scenario& scenario) {
  return World(scenario).run();
}

}  // namespace paceline::sim
