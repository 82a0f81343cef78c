// The inside of a simulation: the scheduler, and what every member of the cluster does with
// a message. Members are the state machines of production; numbers are hashes (see simulation.h).
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/random.h"
#include "cluster/chief_core.h"
#include "exchange/ps/row_reads.h"
#include "exchange/ps/server_core.h"
#include "exchange/ps/tickets.h"
#include "exchange/ps/worker_core.h"
#include "sim/history.h"
#include "sim/replay.h"
#include "sim/simulation.h"
#include "sim/words.h"

namespace paceline::sim {

inline constexpr std::uint32_t kChief = 0;  // on links; incarnations begin at 1
inline constexpr Word kStart = 7;           // of every chunk

// What a worker pushes, and the version of every chunk that it was computed from.
struct Payload {
  Words words;
  Versions from;
};

inline std::string as_text(const google::protobuf::Message& message) {
  return message.GetTypeName() + " " + message.ShortDebugString() + " ";
}
inline std::string as_text(std::uint64_t number) {
  return fmt::format("{} ", number);
}
inline std::string as_text(const std::vector<std::uint64_t>& numbers) {
  return fmt::format("[{}] ", fmt::join(numbers, " "));
}
template <typename... Messages>
std::string as_text(const std::variant<Messages...>& message) {
  return std::visit([](const auto& one) { return as_text(one); }, message);
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
      StepSum sum;
    };
    std::map<std::uint32_t, Stored> store;
    std::set<std::uint64_t> pins;
    Tickets<std::monostate> tickets;  // of tables: reads that pushes may name
    std::vector<Event> history;
  };
  struct Worker {
    std::uint32_t id = 0;
    std::unique_ptr<WorkerCore> core;
    std::unique_ptr<RowReads> reads;  // of tables
    Words params;
    Words older;        // parameters: those before
    Versions versions;  // of the parameters
    struct Value {
      Word word = 0;
      std::uint64_t version = 0;
      std::optional<std::uint64_t> since = {};  // only what has changed since that version
    };
    std::set<std::uint32_t> landing;       // chunks that are being overwritten
    std::map<std::uint32_t, Value> aside;  // by chunk
    std::map<RowReads::Ticket, std::map<std::uint32_t, Value>> rows;  // what has come, by chunk
    std::optional<Share> share;
    std::vector<Payload> grads;  // by chunk
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
  void deliver(std::uint32_t from, std::uint32_t to, std::string said, std::function<void()> work);
  // What a message says, for the record.
  template <typename... What>
  std::string said(const What&... what) const {
    if (!scenario_.record) return {};
    return (std::string() + ... + as_text(what));
  }
  double random_delay() { return 0.0005 + 0.02 * random_.uniform() * random_.uniform(); }
  bool strikes(Mutation mutation);
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
                 const wire::Push* push = nullptr, const Payload& payload = {});
  void accumulate(Server& server, const Accumulate& add, const wire::Push& push,
                  const Payload& payload);
  Words spoiled(Words words);
  void apply(Server& server, const Apply& apply, const Payload& payload);
  void store_version(Server& server, std::uint32_t chunk, std::uint64_t version, Word value);
  void reply_arrives(const SendToClient& reply);
  using ServerWord = decltype(SendToChief::message);
  void chief_hears(std::uint32_t server, const ServerWord& word);
  void send_params(Server& server, const SendParams& send);
  static bool refuses(const ServerCore::Actions& actions);
  void pull_arrives(Server& server, std::uint32_t worker, const wire::Pull& pull, bool ahead);
  void push_arrives(Server& server, const Sender& sender, const wire::Push& push,
                    const Payload& payload);

  // ---- workers
  void start_worker(bool slow);
  void worker_get(Worker& worker, const ChiefMessage& message);
  void worker_do(Worker& worker, const WorkerCore::Actions& actions);
  struct Params {
    std::uint32_t chunk;
    std::uint64_t version;
    Word value;
    std::optional<std::uint64_t> since;  // only the changes: the version they belong to
    std::uint64_t ticket;
    std::optional<std::uint64_t> clock;
  };
  void expect_rows(Worker& worker);
  void ask(Worker& worker, const RowReads::Pulls& pulls);
  void rows_arrive(Worker& worker, const Params& params);
  bool rows_are_there(Worker& worker);
  void params_begin(Worker& worker, const Params& params);
  void params_end(Worker& worker, const Params& params);
  void take(Worker& worker, std::uint32_t chunk, const Worker::Value& value);
  void install_aside(Worker& worker);
  void wake(Worker& worker);
  void work(Worker& worker);
  void begin_share(Worker& worker);
  void push_next(Worker& worker);
  void end_share(Worker& worker, bool pushed);
  void kill(Worker& worker, bool really);
  void link_ends(Server& server, std::uint32_t worker);
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
  std::vector<Words> reference_;  // sync: by version
  Replay replay_;                 // async
  std::uint64_t chances_ = 0;     // of the mutation to strike
  bool ended_ = false;
  Outcome outcome_;
};

}  // namespace paceline::sim
