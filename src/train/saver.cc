#include "train/saver.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "base/activity.h"
#include "base/error.h"
#include "base/log.h"
#include "exchange/ps/reader.h"
#include "exchange/ps/row_reader.h"
#include "session/heartbeat.h"

namespace paceline {
namespace {

constexpr const char* kReading = "waiting for the servers to send version";
constexpr const char* kWriting = "writing the checkpoint of version";

}  // namespace

// All that the thread touches: it may outlive the saver.
struct Saver::Work {
  Work(const RunConfig& its_config, const ChunkMap& its_map, PsAddress its_address, Done its_done)
      : config(its_config),
        map(its_map),
        address(std::move(its_address)),
        done(std::move(its_done)) {}

  void run();
  void write(const CheckpointInfo& info);
  void write_rows(const CheckpointInfo& info);
  template <typename Reader, typename... Arguments>
  Reader& connected(std::unique_ptr<Reader>& place, const Arguments&... arguments);
  void end();  // from any thread: no job is begun any more, no server waited for

  const RunConfig config;
  const ChunkMap map;
  const PsAddress address;
  const Done done;
  Loop loop{Duration::zero()};  // of the thread, as are the buffers
  Buffer values;
  Buffer state;
  Activity activity{"saving"};
  mutable std::mutex mutex;  // guards what follows; of the readers, whether they are there
  std::condition_variable changed;
  std::unique_ptr<PsReader> reader;
  std::unique_ptr<RowReader> row_reader;
  std::deque<CheckpointInfo> jobs;
  std::optional<std::uint64_t> current;  // that is being saved
  bool over = false;                     // no job is begun, and nothing told
  bool given_up = false;
  bool ended = false;  // the thread has
};

void Saver::Work::run() {
  activity.adopt();
  std::unique_lock lock(mutex);
  while (true) {
    current.reset();
    given_up = false;
    activity.begin(Activity::Kind::kIdle, "");
    changed.wait(lock, [this] { return over || !jobs.empty(); });
    if (over) break;
    const CheckpointInfo info = std::move(jobs.front());
    jobs.pop_front();
    current = info.version;
    lock.unlock();
    activity.at(info.version);
    std::optional<Failure> failure;
    try {
      write(info);
      prune_checkpoints(config.run_dir, config.keep_checkpoints);
    } catch (const ServerLost& error) {
      failure = {error, true};
    } catch (const std::exception&) {
      failure = {current_error()};
    }
    lock.lock();
    if (!over) done(info.version, failure);
  }
  ended = true;
  changed.notify_all();
}

template <typename Reader, typename... Arguments>
Reader& Saver::Work::connected(std::unique_ptr<Reader>& place, const Arguments&... arguments) {
  if (!place) {
    auto made = std::make_unique<Reader>(loop, arguments..., address, config.deadline);
    const std::lock_guard lock(mutex);
    place = std::move(made);
  }
  return *place;
}

void Saver::Work::write(const CheckpointInfo& info) {
  if (exchanges_rows(config)) return write_rows(info);
  activity.begin(Activity::Kind::kWaiting, kReading);
  PsReader& from = connected(reader, map);
  if (values.size() == 0) {
    values = Buffer::floats(map.floats());
    state = Buffer::floats(map.floats() * info.slots);
  }
  from.read(info.version, values.as_floats(), state.as_floats());
  activity.begin(Activity::Kind::kBusy, kWriting);
  expect_finite(config, info.version, values.as_floats());
  write_checkpoint(checkpoint_path(config.run_dir, info.version), info,
                   [&](std::uint64_t vector, Range floats, std::span<float> out) {
                     activity.count();
                     const std::span<const float> numbers =
                         vector == 0
                             ? values.as_floats()
                             : state.as_floats().subspan((vector - 1) * map.floats(), map.floats());
                     std::ranges::copy(numbers.subspan(floats.begin, floats.size()), out.begin());
                   });
}

// A table is read as it is written, part by part: it may be larger than the memory here.
void Saver::Work::write_rows(const CheckpointInfo& info) {
  activity.begin(Activity::Kind::kWaiting, kReading);
  RowReader& from = connected(row_reader, RowDeal(map.floats(), map.servers()));
  write_checkpoint(checkpoint_path(config.run_dir, info.version), info,
                   [&](std::uint64_t vector, Range keys, std::span<float> out) {
                     activity.begin(Activity::Kind::kWaiting, kReading);
                     from.read(info.version, vector, keys, out);
                     activity.begin(Activity::Kind::kBusy, kWriting);
                     if (vector == 0) expect_finite(config, info.version, out);
                   });
}

void Saver::Work::end() {
  {
    const std::lock_guard lock(mutex);
    over = true;
    changed.notify_all();
  }
  loop.stop();
}

Saver::Saver(const RunConfig& config, const ChunkMap& map, PsAddress address, Done done)
    : work_(std::make_shared<Work>(config, map, std::move(address), std::move(done))) {
  thread_ = std::thread([work = work_] { work->run(); });
}

Saver::~Saver() {
  work_->end();
  std::unique_lock lock(work_->mutex);
  const bool ended = work_->ended;
  lock.unlock();
  ended ? thread_.join() : thread_.detach();
}

void Saver::save(CheckpointInfo info) {
  const std::lock_guard lock(work_->mutex);
  work_->jobs.push_back(std::move(info));
  work_->changed.notify_all();
}

std::vector<std::uint64_t> Saver::unfinished() const {
  const std::lock_guard lock(work_->mutex);
  std::vector<std::uint64_t> versions;
  if (work_->current) versions.push_back(*work_->current);
  for (const CheckpointInfo& job : work_->jobs) versions.push_back(job.version);
  return versions;
}

wire::Heartbeat Saver::beat() const {
  wire::Heartbeat beat;
  add_activity(work_->activity, beat);
  const std::lock_guard lock(work_->mutex);
  LinkCounters moved;
  if (work_->reader) moved = work_->reader->counters();
  if (work_->row_reader) moved = work_->row_reader->counters();
  beat.set_bytes_in(moved.bytes_in);
  beat.set_bytes_out(moved.bytes_out);
  return beat;
}

void Saver::give_up() {
  const std::lock_guard lock(work_->mutex);
  work_->given_up = true;
}

void Saver::finish(Duration patience, const std::function<void()>& gets_on) {
  work_->end();
  std::unique_lock lock(work_->mutex);
  while (!work_->given_up && !work_->ended) {
    const std::uint64_t before = work_->activity.state().done;
    if (work_->current && gets_on) {
      lock.unlock();
      gets_on();
      lock.lock();
    }
    if (work_->changed.wait_for(lock, patience, [this] { return work_->ended; })) return;
    if (work_->activity.state().done != before) continue;
    spdlog::warn(
        "nothing of the checkpoint that is being written came to the disk for a while: it "
        "is not waited for");
    return;
  }
}

}  // namespace paceline
