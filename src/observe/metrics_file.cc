#include "observe/metrics_file.h"

#include <cerrno>
#include <utility>

#include "base/error.h"
#include "base/signals.h"

namespace paceline {
namespace {

constexpr std::size_t kFarBehind = std::size_t{1} << 20;  // bytes

}  // namespace

MetricsFile::MetricsFile(const std::filesystem::path& path)
    : path_(path), file_(std::fopen(path.c_str(), "ae")) {
  if (!file_) throw DataError("cannot open {}: {}", path.string(), errno_text(errno));
  const SignalsHeld held;
  writer_ = std::thread([this] { work(); });
}

MetricsFile::~MetricsFile() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    changed_.notify_all();
  }
  writer_.join();
}

void MetricsFile::write(const nlohmann::json& object, Need need) {
  const std::lock_guard lock(mutex_);
  rethrow();
  if (need == Need::kIfThereIsTime && lines_.size() > kFarBehind) return;
  lines_ += object.dump() + "\n";
  changed_.notify_all();
}

void MetricsFile::flush() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return failure_ || (lines_.empty() && !writing_); });
  rethrow();
}

void MetricsFile::rethrow() {
  if (failure_) std::rethrow_exception(failure_);
}

void MetricsFile::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return over_ || !lines_.empty(); });
    if (lines_.empty()) return;
    const std::string lines = std::exchange(lines_, {});
    writing_ = true;
    lock.unlock();
    std::exception_ptr failure;
    try {
      write_out(lines);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    writing_ = false;
    if (!failure_) failure_ = failure;
    changed_.notify_all();
  }
}

void MetricsFile::write_out(const std::string& lines) {
  if (std::fwrite(lines.data(), 1, lines.size(), file_.get()) != lines.size() ||
      std::fflush(file_.get()) != 0) {
    throw DataError("cannot write {}: {}", path_.string(), errno_text(errno));
  }
}

}  // namespace paceline
