#include "observe/metrics_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/signals.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFarBehind = std::size_t{1} << 20;  // bytes

bool ends_within_a_line(const fs::path& path) {
  std::error_code none;
  if (!fs::is_regular_file(path, none)) return false;
  std::ifstream file(path, std::ios::binary);
  return file.seekg(-1, std::ios::end) && file.get() != '\n';
}

bool is_full_disk(const std::exception_ptr& failure) {
  try {
    if (failure) std::rethrow_exception(failure);
    return false;
  } catch (const DiskFull&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

// Whoever wrote here before may have died, or lost its power, in the middle of a line.
MetricsFile::MetricsFile(const fs::path& path)
    : path_(path), file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
  if (file_ < 0) throw DataError("cannot open {}: {}", path.string(), errno_text(errno));
  if (ends_within_a_line(path)) lines_ = "\n";
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
  ::close(file_);
}

void MetricsFile::write(const nlohmann::json& object, Need need) {
  const std::lock_guard lock(mutex_);
  if (failure_ && !is_full_disk(failure_)) std::rethrow_exception(failure_);
  if (need == Need::kIfThereIsTime && lines_.size() > kFarBehind) return;
  lines_ += to_text(object) + "\n";
  wanted_ = true;
  changed_.notify_all();
}

void MetricsFile::flush() {
  std::unique_lock lock(mutex_);
  wanted_ = true;
  changed_.notify_all();
  changed_.wait(lock, [this] { return !wanted_; });
  if (failure_) std::rethrow_exception(failure_);
}

void MetricsFile::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return over_ || wanted_; });
    const bool last = over_;
    std::string lines = std::exchange(lines_, {});
    lock.unlock();
    std::exception_ptr failure;
    try {
      write_out(lines);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    wanted_ = !failure && !lines_.empty();  // more has come meanwhile
    lines_ = lines + lines_;
    failure_ = failure;
    changed_.notify_all();
    if (last) return;
  }
}

void MetricsFile::write_out(std::string& lines) {
  std::size_t written = 0;
  int error = 0;
  while (written < lines.size() && error == 0) {
    const ssize_t more = ::write(file_, lines.data() + written, lines.size() - written);
    if (more >= 0) {
      written += static_cast<std::size_t>(more);
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  // The last line may have fitted in part.
  const std::size_t cut = written == 0 ? 0 : lines.rfind('\n', written - 1) + 1;
  if (cut < written) {
    const off_t end = ::lseek(file_, 0, SEEK_END);
    if (end >= 0 && ::ftruncate(file_, end - static_cast<off_t>(written - cut)) != 0) error = errno;
  }
  lines.erase(0, cut);
  if (error != 0) throw_unwritable(path_.string(), error);
}

std::vector<nlohmann::json> read_epochs(const fs::path& path, std::uint64_t version) {
  std::ifstream in(path);
  std::map<std::uint64_t, nlohmann::json> epochs;  // by number
  for (std::string text; std::getline(in, text);) {
    nlohmann::json line = nlohmann::json::parse(text, nullptr, false);
    if (text_at(line, "type") != "epoch") continue;
    const auto number = count_at(line, "epoch");
    const auto ended = count_at(line, "version");
    if (number && ended && *ended <= version) epochs[*number] = std::move(line);
  }
  std::vector<nlohmann::json> all;
  all.reserve(epochs.size());
  for (auto& [number, line] : epochs) all.push_back(std::move(line));
  return all;
}

}  // namespace paceline
