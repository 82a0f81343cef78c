#include "train/saver.h"

#include "base/error.h"
#include "base/log.h"
#include "train/workload.h"

namespace paceline {
namespace {

constexpr const char* kReading = "waiting for the servers to send version";
constexpr const char* kWriting = "writing the checkpoint of version";

}  // namespace

Saver::Saver(const RunConfig& config, const ChunkMap& map, PsAddress address, Done done)
    : config_(config), map_(map), address_(std::move(address)), done_(std::move(done)) {
  thread_ = std::thread([this] { work(); });
}

Saver::~Saver() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    changed_.notify_all();
  }
  loop_.stop();  // a wait for a server ends
  thread_.join();
}

void Saver::save(CheckpointInfo info) {
  const std::lock_guard lock(mutex_);
  jobs_.push_back(std::move(info));
  changed_.notify_all();
}

std::vector<std::uint64_t> Saver::unfinished() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> versions;
  if (current_) versions.push_back(*current_);
  for (const CheckpointInfo& job : jobs_) versions.push_back(job.version);
  return versions;
}

void Saver::work() {
  activity_.adopt();
  while (true) {
    CheckpointInfo info;
    {
      std::unique_lock lock(mutex_);
      current_.reset();
      activity_.begin(Activity::Kind::kIdle, "");
      changed_.wait(lock, [this] { return over_ || !jobs_.empty(); });
      if (over_) return;
      info = std::move(jobs_.front());
      jobs_.pop_front();
      current_ = info.version;
    }
    activity_.at(info.version);
    std::optional<Failure> failure;
    try {
      write(info);
      prune_checkpoints(config_.run_dir, config_.keep_checkpoints);
    } catch (const ServerLost& error) {
      failure = {error, true};
    } catch (const std::exception&) {
      failure = {current_error()};
    }
    done_(info.version, failure);
  }
}

// A table is read as it is written, part by part: it may be larger than the memory here.
void Saver::write(const CheckpointInfo& info) {
  const auto path = checkpoint_path(config_.run_dir, info.version);
  if (exchanges_rows(config_)) {
    if (!row_reader_) {
      row_reader_ = std::make_unique<RowReader>(loop_, RowDeal(map_.floats(), map_.servers()),
                                                address_, config_.deadline);
    }
    return write_checkpoint(path, info,
                            [&](std::uint64_t vector, Range keys, std::span<float> out) {
                              activity_.begin(Activity::Kind::kWaiting, kReading);
                              row_reader_->read(info.version, vector, keys, out);
                              activity_.begin(Activity::Kind::kBusy, kWriting);
                              if (vector == 0) expect_finite(config_, info.version, out);
                            });
  }
  if (!reader_) {
    reader_ = std::make_unique<PsReader>(loop_, map_, address_, config_.deadline);
    values_ = Buffer::floats(map_.floats());
    state_ = Buffer::floats(map_.floats() * info.slots);
  }
  activity_.begin(Activity::Kind::kWaiting, kReading);
  reader_->read(info.version, values_.as_floats(), state_.as_floats());
  activity_.begin(Activity::Kind::kBusy, kWriting);
  expect_finite(config_, info.version, values_.as_floats());
  write_checkpoint(path, info, [&](std::uint64_t vector, Range floats, std::span<float> out) {
    activity_.count();
    const std::span<const float> from =
        vector == 0 ? values_.as_floats()
                    : state_.as_floats().subspan((vector - 1) * map_.floats(), map_.floats());
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(floats.begin), floats.size(),
                out.begin());
  });
}

}  // namespace paceline
