// Any sequence of messages to the state machines of the chief, of a worker and of a server: what
// makes no sense is refused with a FrameError (or, where a worker cannot go on, a CommError), all
// else is gone on with, and nothing grows without bounds.
#include <algorithm>
#include <optional>
#include <vector>

#include "base/error.h"
#include "cluster/chief_core.h"
#include "exchange/ps/server_core.h"
#include "exchange/ps/worker_core.h"
#include "fuzz/fuzz_target.h"
#include "session/message.h"

namespace paceline {
namespace core_fuzzer {

constexpr Grid kGrid{.examples = 30, .batch = 10, .tile = 3};
constexpr std::uint64_t kLastVersion = 9;

// Takes the bytes of the next message: its length is the first of them.
std::string_view take_message(FuzzBytes& bytes) {
  std::size_t length = take_byte(bytes);
  length = std::min(length, bytes.size());
  const FuzzBytes message = bytes.first(length);
  bytes = bytes.subspan(length);
  return as_text(message);
}

template <typename Message>
Message take(FuzzBytes& bytes) {
  return parsed<Message>(take_message(bytes));
}

// ---- the chief ---------------------------------------------------------------------------

// Members as the driver has them: all that speak are registered.
class FuzzedChief {
 public:
  explicit FuzzedChief(std::uint8_t choice) : core_(options(choice)) {
    if (choice / 3 % 4 == 0) return;  // most runs begin
    for (const Role role :
         {Role::kServer, Role::kServer, Role::kWorker, Role::kWorker, Role::kEvaluator}) {
      enter(role);
    }
    core_.ready(1);
    core_.ready(2);
  }

  void step(FuzzBytes& bytes) {
    const std::uint8_t type = take_byte(bytes);
    if (type % 16 == 0) return enter(static_cast<Role>(type / 16 % 3));
    if (last_ == 0) return;
    const std::uint32_t from = 1 + type / 16 % last_;
    accepts<FrameError>([&] { told(type % 16, from, bytes); });
    require(core_.watermark() <= kLastVersion);
    require(core_.examples_done() <= 3 * kGrid.examples);
    core_.waited_for();
    core_.owners(core_.watermark(), {{0, 2}});
  }

 private:
  static ChiefCore::Options options(std::uint8_t choice) {
    ChiefCore::Options options;
    options.mode = static_cast<Mode>(choice % 3);
    options.grid = kGrid;
    options.servers = 2;
    options.workers = 2;
    options.last_version = kLastVersion;
    options.ring = choice / 12 % 4 == 0;
    return options;
  }

  void enter(Role role) {
    constexpr std::uint32_t kMost = 12;
    if (last_ < kMost && core_.unwelcome(role).empty()) core_.registered(role, "one", "", last_);
  }

  void told(int type, std::uint32_t from, FuzzBytes& bytes) {
    switch (type) {
      case 1:
        core_.ready(from);
        break;
      case 2:
        core_.complete(from, take<wire::Complete>(bytes));
        break;
      case 3:
        core_.fenced(from, take<wire::Fenced>(bytes));
        break;
      case 4:
        core_.prepared(from, take<wire::Prepared>(bytes));
        break;
      case 5:
        core_.committed(from, take<wire::Committed>(bytes));
        break;
      case 6:
        core_.scalars(from, take<wire::Scalars>(bytes));
        break;
      case 7:
        core_.evaluated(take<wire::Evaluated>(bytes));
        break;
      case 8:
        core_.stopped(from, take<wire::Stopped>(bytes));
        break;
      case 9:
        core_.quiet(from);
        break;
      case 10:
        core_.lost(from, CommError("lost"));
        break;
      case 11:
        core_.saved(take_byte(bytes));
        break;
      case 12:
        core_.stop();
        break;
      case 13:
        core_.fail(DataError("failed"));
        break;
      case 14:
        core_.hurry();
        break;
      default:
        core_.save_failed(take_byte(bytes), DataError("no room"));
    }
  }

  ChiefCore core_;
  std::uint32_t last_ = 0;  // incarnation
};

// ---- a worker ----------------------------------------------------------------------------

class FuzzedWorker {
 public:
  static constexpr std::uint32_t kChunks = 2;

  explicit FuzzedWorker(std::uint8_t choice)
      : rows_(options(choice).rows), core_(options(choice)) {}

  void step(FuzzBytes& bytes) {
    const std::uint8_t type = take_byte(bytes);
    const std::uint32_t chunk = type / 8 % kChunks;
    try {
      told(type % 8, chunk, bytes);
    } catch (const FrameError&) {
    } catch (const CommError&) {
    }
    train();
  }

 private:
  static WorkerCore::Options options(std::uint8_t choice) {
    WorkerCore::Options options;
    options.mode = static_cast<Mode>(choice % 3);
    options.grid = kGrid;
    options.chunks = kChunks;
    options.incarnation = 3;
    options.last_version = kLastVersion;
    options.rows = choice / 3 % 4 == 3;
    return options;
  }

  void told(int type, std::uint32_t chunk, FuzzBytes& bytes) {
    switch (type) {
      case 0:
        core_.assignment(take<wire::Assignment>(bytes));
        break;
      case 1:
        core_.prepare(take<wire::Prepare>(bytes));
        break;
      case 2:
        core_.lease(take<wire::Lease>(bytes));
        break;
      case 3:
        core_.ack(take<wire::Ack>(bytes));
        break;
      case 4:
        core_.refused(take<wire::Refusal>(bytes));
        break;
      case 5:  // changes of a version
        arrive(chunk, {false, take_byte(bytes), std::nullopt}, bytes);
        break;
      case 6:  // to be decoded
        arrive(chunk, {false, std::nullopt, type}, bytes);
        break;
      default:
        arrive(chunk, {true, std::nullopt, type}, bytes);
    }
  }

  void arrive(std::uint32_t chunk, const WorkerCore::Arrival& arrival, FuzzBytes& bytes) {
    if (rows_) {
      core_.params(chunk, take_byte(bytes), arrival.clock);
    } else {
      core_.arriving(chunk, arrival);
      core_.arrived(chunk, take_byte(bytes));
    }
  }

  // What the training thread does, whenever it can.
  void train() {
    Share share;
    if (!has_share_ && core_.next(share) == WorkerCore::Next::kShare) {
      require(share.step < kLastVersion);
      require(share.tiles.begin <= share.tiles.end);
      require(share.tiles.end <= kGrid.tiles(share.step));
      has_share_ = true;
    }
    if (!has_share_) return;
    if (core_.superseded()) {
      core_.set_aside();
      has_share_ = false;
      return install();
    }
    bool all = true;
    for (std::uint32_t chunk = 0; chunk < kChunks; ++chunk) {
      core_.needs(chunk);
      all = all && core_.holds(chunk);
    }
    if (!all) return;
    for (std::uint32_t chunk = 0; chunk < kChunks; ++chunk) core_.push(chunk, {});
    has_share_ = false;
    install();
  }

  void install() {
    accepts<FrameError>([&] { core_.install_aside(); });
  }

  bool rows_;
  WorkerCore core_;
  bool has_share_ = false;
};

// ---- a server ----------------------------------------------------------------------------

class FuzzedServer {
 public:
  explicit FuzzedServer(std::uint8_t choice) : core_(options(choice)) {}

  void step(FuzzBytes& bytes) {
    const std::uint8_t type = take_byte(bytes);
    const std::uint64_t version = core_.version();
    accepts<FrameError>([&] { told(type % 8, type / 16 % 4, bytes); });
    require(core_.version() >= version && core_.version() <= kLastVersion);
    core_.missing();
  }

 private:
  static ServerCore::Options options(std::uint8_t choice) {
    ServerCore::Options options;
    options.mode = static_cast<Mode>(choice % 3);
    options.grid = kGrid;
    options.rows = choice / 3 % 4 == 3;
    options.chunks =
        options.rows ? std::vector<std::uint32_t>{0} : std::vector<std::uint32_t>{0, 2};
    options.servers = 2;
    options.staleness = 1;
    options.last_version = kLastVersion;
    options.rules.clip = choice / 12 % 2 == 1 ? 1.0 : 0.0;
    return options;
  }

  void told(int type, std::uint32_t client, FuzzBytes& bytes) {
    switch (type) {
      case 0:
      case 1: {
        const std::uint64_t base = take_byte(bytes);
        return carry_out(core_.push({client, client, 0, base}, take<wire::Push>(bytes)));
      }
      case 2:
        return carry_out(core_.pull(client, client, take<wire::Pull>(bytes)));
      case 3:
        return carry_out(core_.fence(take<wire::Fence>(bytes)));
      case 4:
        return carry_out(core_.decision(take<wire::Decision>(bytes)));
      case 5:
        return carry_out(core_.pin(take<wire::Pin>(bytes).version()));
      case 6:
        return carry_out(core_.unpin(take<wire::Unpin>(bytes).version()));
      default:
        carry_out(client == 0 ? core_.stop() : core_.client_gone(client, client));
    }
  }

  // Sums are looked at when the core asks for that, as the driver does.
  void carry_out(const ServerCore::Actions& actions) {
    for (const ServerAction& action : ServerCore::Actions(actions)) {
      if (const auto* check = std::get_if<CheckChunk>(&action)) {
        carry_out(core_.checked(check->chunk, check->step, true));
      } else if (const auto* measure = std::get_if<MeasureStep>(&action)) {
        carry_out(core_.measured(measure->step, 1.0, true));
      }
    }
  }

  ServerCore core_;
};

template <typename Core>
void feed(Core core, FuzzBytes bytes) {
  while (!bytes.empty()) core.step(bytes);
}

void run(FuzzBytes bytes) {
  const std::uint8_t whom = take_byte(bytes);
  const std::uint8_t choice = take_byte(bytes);
  if (whom % 3 == 0) return feed(FuzzedChief(choice), bytes);
  if (whom % 3 == 1) return feed(FuzzedWorker(choice), bytes);
  feed(FuzzedServer(choice), bytes);
}

}  // namespace core_fuzzer

const FuzzTarget kCoreFuzzer{"core", core_fuzzer::run};

}  // namespace paceline
