// What simulated servers do.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "sim/world.h"

namespace paceline::sim {

void World::server_get(Server& server, const ChiefMessage& message) {
  if (const auto* setup = std::get_if<wire::Setup>(&message)) {
    ServerCore::Options options;
    options.mode = scenario_.mode;
    options.grid = scenario_.grid;
    options.rules.clip = scenario_.whole_step ? 1e300 : 0;
    options.servers = scenario_.servers;
    options.rows = scenario_.rows;
    options.staleness = scenario_.staleness;
    if (scenario_.rows && scenario_.mutation != Mutation::kForgetAhead) {
      options.staleness = staleness_of_rows(scenario_.mode, scenario_.staleness);
    }
    options.last_version = steps_;
    options.most_pins = 2;
    for (std::uint32_t chunk = setup->index(); chunk < all_chunks(); chunk += scenario_.servers) {
      options.chunks.push_back(chunk);
      Server::Stored& stored = server.store[chunk];
      stored.current = scenario_.version;
      stored.versions[stored.current] =
          scenario_.mode == Mode::kSync ? reference_[stored.current][chunk] : kStart;
    }
    options.version = scenario_.version;
    options.applied = scenario_.applied;
    server.chunks = options.chunks;
    server.core = std::make_unique<ServerCore>(options);
    deliver(server.id, kChief, said(), [this, id = server.id] { chief_do(chief_->ready(id)); });
  } else if (const auto* fence = std::get_if<wire::Fence>(&message)) {
    for (const std::uint32_t dead : fence->dead()) server.history.push_back(Left{dead});
    server_do(server, server.core->fence(*fence));
  } else if (const auto* pin = std::get_if<wire::Pin>(&message)) {
    server_do(server, server.core->pin(pin->version()));
  } else if (const auto* unpin = std::get_if<wire::Unpin>(&message)) {
    server_do(server, server.core->unpin(unpin->version()));
  } else if (const auto* decision = std::get_if<wire::Decision>(&message)) {
    server_do(server, server.core->decision(*decision));
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

// What the planted bugs make of a contribution.
Words World::spoiled(Words words) {
  if (strikes(Mutation::kAddTwice)) {
    for (Word& word : words) word += word;
  }
  if (strikes(Mutation::kLose)) std::fill(words.begin(), words.end(), 0);
  if (words.size() > 1 && strikes(Mutation::kWrongPlace)) std::swap(words.front(), words.back());
  return words;
}

void World::accumulate(Server& server, const Accumulate& add, const wire::Push& push,
                       const Payload& payload) {
  const Range tiles{push.tiles().begin(), push.tiles().end()};
  server.store.at(add.chunk).sum.add(add.first, tiles, spoiled(payload.words),
                                     scenario_.deterministic);
  server.history.push_back(Added{add.chunk, push.step(), tiles});
}

void World::apply(Server& server, const Apply& apply, const Payload& payload) {
  Server::Stored& stored = server.store.at(apply.chunk);
  const bool sync = scenario_.mode == Mode::kSync;
  const Word sum =
      sync ? stored.sum.total(scenario_.grid.tiles(apply.step)) : spoiled(payload.words).front();
  const Word after = applied(stored.versions.at(stored.current), sum);
  server.history.push_back(Applied{apply.chunk, apply.step, apply.version});
  store_version(server, apply.chunk, apply.version, after);
  if (sync) return;
  if (after != replay_.apply(apply.chunk, scenario_.grid.whole(apply.step), payload.from)) {
    problem(fmt::format("version {} of chunk {} is not what step {} makes of the one before",
                        apply.version, apply.chunk, apply.step));
  }
}

void World::server_do(Server& server, const ServerCore::Actions& actions, const Sender* sender,
                      const wire::Push* push, const Payload& payload) {
  std::vector<CheckChunk> checks;
  std::optional<std::uint64_t> measure;
  for (const ServerAction& action : ServerCore::Actions(actions)) {
    if (const auto* add = std::get_if<Accumulate>(&action)) {
      accumulate(server, *add, *push, payload);
    } else if (const auto* apply = std::get_if<Apply>(&action)) {
      this->apply(server, *apply, payload);
    } else if (const auto* check = std::get_if<CheckChunk>(&action)) {
      checks.push_back(*check);
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
      deliver(server.id, reply->client, said(reply->message),
              [this, reply = *reply] { reply_arrives(reply); });
    } else if (const auto* tell = std::get_if<SendToChief>(&action)) {
      auto message = tell->message;
      if (auto* fenced = std::get_if<wire::Fenced>(&message);
          fenced && scenario_.mutation == Mutation::kForgetTouched) {
        fenced->set_untouched(fenced->open());
      }
      deliver(server.id, kChief, said(message),
              [this, id = server.id, message] { chief_hears(id, message); });
    }
  }
  for (const auto& [chunk, step] : checks) {
    server_do(server, server.core->checked(chunk, step, true), sender, push, payload);
  }
  if (measure) server_do(server, server.core->measured(*measure, 1.0, true), sender, push, payload);
}

void World::reply_arrives(const SendToClient& reply) {
  for (Worker& worker : workers_) {
    if (worker.id != reply.client || !worker.alive) continue;
    if (const auto* ack = std::get_if<wire::Ack>(&reply.message)) {
      worker_do(worker, worker.core->ack(*ack));
      continue;
    }
    const auto& refusal = std::get<wire::Refusal>(reply.message);
    try {
      worker_do(worker, worker.core->refused(refusal));
      if (worker.reads) worker.reads->gone(refusal.version());
      wake(worker);
    } catch (const CommError& error) {
      if (refusal.reason() != wire::Refusal::FENCED) problem(error.what());
      worker.alive = false;
      cut_.insert(worker.id);
    }
  }
}

void World::chief_hears(std::uint32_t server, const ServerWord& word) {
  if (const auto* complete = std::get_if<wire::Complete>(&word)) {
    chief_do(chief_->complete(server, *complete));
  } else if (const auto* fenced = std::get_if<wire::Fenced>(&word)) {
    chief_do(chief_->fenced(server, *fenced));
  } else if (const auto* scalars = std::get_if<wire::Scalars>(&word)) {
    chief_do(chief_->scalars(server, *scalars));
  } else {
    chief_do(chief_->stopped(server, std::get<wire::Stopped>(word)));
  }
}

void World::send_params(Server& server, const SendParams& send) {
  Server::Stored& stored = server.store.at(send.chunk);
  const auto found = stored.versions.find(send.version);
  if (found == stored.versions.end()) {
    return problem(
        fmt::format("version {} of chunk {} was promised but is gone", send.version, send.chunk));
  }
  server.history.push_back(Read{send.chunk, send.client, send.ticket});
  // Parameters take their time to arrive: much can happen between their first byte and
  // their last.
  const auto at_worker = [this, client = send.client](const std::function<void(Worker&)>& work) {
    for (Worker& worker : workers_) {
      if (worker.id != client || !worker.alive) continue;
      try {
        work(worker);
      } catch (const FrameError& error) {
        problem(error.what());
      }
    }
  };
  // Of the newest version only what has changed is sent to those whose version is known.
  Params params{send.chunk, send.version, found->second, send.since, send.ticket, send.clock};
  if (send.version != stored.current) params.since.reset();
  if (scenario_.rows) {
    return deliver(server.id, send.client,
                   said(params.chunk, params.version, params.value, params.ticket),
                   [at_worker, params, this] {
                     at_worker([&](Worker& worker) { rows_arrive(worker, params); });
                   });
  }
  deliver(server.id, send.client, said(), [at_worker, params, this] {
    at_worker([&](Worker& worker) { params_begin(worker, params); });
  });
  deliver(server.id, send.client, said(params.chunk, params.version, params.value),
          [at_worker, params, this] {
            at_worker([&](Worker& worker) { params_end(worker, params); });
          });
}

bool World::refuses(const ServerCore::Actions& actions) {
  return std::any_of(actions.begin(), actions.end(), [](const ServerAction& action) {
    const auto* reply = std::get_if<SendToClient>(&action);
    return reply != nullptr && std::holds_alternative<wire::Refusal>(reply->message);
  });
}

void World::push_arrives(Server& server, const Sender& sender, const wire::Push& push,
                         const Payload& payload) {
  if (scenario_.rows && server.tickets.find(sender.client, push.ticket()) == nullptr) {
    problem(fmt::format("a push for rows that nobody has named (ticket {})", push.ticket()));
  }
  server.tickets.forget(sender.client, push.ticket());
  const auto& actions = server.core->push(sender, push);
  if (scenario_.mode != Mode::kSync && !refuses(actions)) {
    server.history.push_back(
        Ticked{push.chunk(), sender.incarnation, push.clock(), push.last_lease()});
  }
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
      server.store.at(push.chunk()).sum.add_again(payload.words);
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

}  // namespace paceline::sim
