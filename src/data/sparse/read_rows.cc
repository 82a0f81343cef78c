#include "data/sparse/read_rows.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <condition_variable>
#include <ctime>
#include <deque>
#include <mutex>
#include <optional>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "base/threads.h"
#include "base/units.h"
#include "data/sparse/row_origin.h"
#include "data/sparse/text_lines.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBadLinesNamed = 10;

struct BadLine {
  std::uint64_t line = 0;  // of the piece, from 0
  const char* reason = nullptr;
};

// A piece of text on its way through the threads.
struct Job {
  TextPiece piece;
  std::array<RowBuffer, 2> rows;  // by split
  std::uint64_t lines = 0;
  std::vector<BadLine> bad;
  bool done = false;

  void begin(TextPiece next) {
    piece = std::move(next);
    for (RowBuffer& buffer : rows) buffer.clear();
    lines = 0;
    bad.clear();
    done = false;
  }
};

void parse_piece(const RowParser& parser, double test_share, Job& job) {
  for_each_line(job.piece.text, [&](std::string_view line) {
    if (!line.empty()) {
      const bool test = test_share > 0 && is_for_test(line, test_share);
      const char* reason = parser.parse(line, job.rows[test ? 1 : 0]);
      if (reason != nullptr) job.bad.push_back({job.lines, reason});
    }
    ++job.lines;
  });
  job.piece.owner.reset();
}

// Threads that parse pieces; results are taken in the order of the pieces.
class Parsers {
 public:
  Parsers(const RowParser& parser, double test_share, unsigned threads)
      : parser_(parser), test_share_(test_share), most_(std::size_t{2} * threads) {
    threads_.start(threads, [this](std::size_t) { work(); });
  }
  ~Parsers() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
  }

  bool full() const { return jobs_.size() >= most_; }
  bool empty() const { return jobs_.empty(); }

  void put(TextPiece piece) {
    std::unique_ptr<Job> job = spare_ ? std::move(spare_) : std::make_unique<Job>();
    job->begin(std::move(piece));
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(job.get());
    }
    jobs_.push_back(std::move(job));
    changed_.notify_all();
  }

  std::unique_ptr<Job> take() {
    std::unique_ptr<Job> job = std::move(jobs_.front());
    jobs_.pop_front();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return job->done; });
    return job;
  }
  // Its memory serves another piece: new memory costs more than parsing what fills it.
  void give_back(std::unique_ptr<Job> job) { spare_ = std::move(job); }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return over_ || !waiting_.empty(); });
      if (over_) return;
      Job& job = *waiting_.front();
      waiting_.pop_front();
      lock.unlock();
      parse_piece(parser_, test_share_, job);
      lock.lock();
      job.done = true;
      changed_.notify_all();
    }
  }

  const RowParser& parser_;
  double test_share_;
  std::size_t most_;
  std::deque<std::unique_ptr<Job>> jobs_;  // of the thread that puts and takes
  std::unique_ptr<Job> spare_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job*> waiting_;
  bool over_ = false;
  Threads threads_;
};

RowFormatOptions settled(const RowSource& source, const std::vector<fs::path>& files) {
  RowFormatOptions format = source.format;
  if (format.format != RowFormat::kAuto) return format;
  const std::string line = first_line(files);
  if (line.empty()) throw DataError("{} is empty", source.files);
  format.format = guess_format(line);
  if (format.format != RowFormat::kAuto) return format;
  throw DataError("{}: the first line looks like none of libsvm, criteo and vw: set --format",
                  files.front().string());
}

class CacheBuilder {
 public:
  CacheBuilder(const RowSource& source, const std::vector<fs::path>& files,
               const RowFormatOptions& format, const RowNews& news)
      : source_(source), files_(files), format_(format), news_(news), parser_(format) {}

  void build(const std::string& origin) {
    std::vector<std::unique_ptr<RowCacheWriter>> writers;
    const TimePoint begun = Clock::now();
    for (const Split split : splits()) {
      writers.push_back(std::make_unique<RowCacheWriter>(cache_path(source_, split)));
    }
    Parsers parsers(parser_, source_.test_share, std::max(1U, source_.threads));
    std::uint64_t bytes = 0;
    for_each_piece(files_, [&](TextPiece piece) {
      bytes += piece.text.size();
      if (parsers.full()) {
        std::unique_ptr<Job> job = parsers.take();
        write(*job, writers);
        parsers.give_back(std::move(job));
      }
      parsers.put(std::move(piece));
      return true;
    });
    while (!parsers.empty()) write(*parsers.take(), writers);
    for (const Split split : splits()) {
      if (rows_[split == Split::kTest ? 1 : 0] > 0) continue;
      throw DataError(
          "{} has no rows{}", source_.files,
          split == Split::kTest ? " to test on: raise --test-share, or name a --test-file" : "");
    }
    RowCacheInfo info;
    info.source = origin;
    info.bits = format_.bits;
    info.bad_lines = bad_;
    for (const auto& writer : writers) writer->commit(info);
    const double took = seconds(Clock::now() - begun);
    news_.notice(
        fmt::format("{}: {} rows ({}) read in {:.1f} s, {}/s", source_.files,
                    format_count(rows_[0] + rows_[1]), name_of(format_.format), took,
                    format_bytes(static_cast<std::uint64_t>(static_cast<double>(bytes) / took))));
    if (bad_ > 0) {
      news_.warning(fmt::format("{}: {} line(s) were left out", source_.files, format_count(bad_)));
    }
  }

 private:
  std::vector<Split> splits() const {
    if (source_.test_share > 0) return {Split::kTrain, Split::kTest};
    return {Split::kTrain};
  }

  void write(const Job& job, std::span<const std::unique_ptr<RowCacheWriter>> writers) {
    if (job.piece.file != file_) {
      file_ = job.piece.file;
      line_ = 0;
    }
    for (const BadLine& bad : job.bad) {
      if (++bad_ > kBadLinesNamed) continue;
      named_.push_back(
          fmt::format("{}:{}: {}", files_[file_].string(), line_ + bad.line + 1, bad.reason));
      news_.warning(named_.back());
    }
    if (bad_ > source_.most_bad) {
      throw DataError("{}: {} lines cannot be parsed as {}, and --max-bad is {}; the first is {}",
                      source_.files, format_count(bad_), name_of(format_.format), source_.most_bad,
                      named_.front());
    }
    line_ += job.lines;
    for (std::size_t i = 0; i < writers.size(); ++i) {
      rows_[i] += job.rows[i].starts.size();
      writers[i]->add(job.rows[i]);
    }
  }

  const RowSource& source_;
  const std::vector<fs::path>& files_;
  RowFormatOptions format_;
  const RowNews& news_;
  RowParser parser_;
  std::size_t file_ = 0;
  std::uint64_t line_ = 0;  // lines of the file before the piece
  std::array<std::uint64_t, 2> rows_{};
  std::uint64_t bad_ = 0;
  std::vector<std::string> named_;  // the first bad lines
};

// A cache is not synced when it is made, so of one that was made before this machine was started,
// pages may be missing, if the power failed then. What is on the disk now stays there: looking at
// all blocks once is enough, and the file's time tells that it was done.
void expect_survived(const RowCache& cache, const fs::path& path) {
  struct stat status {};
  timespec now{};
  timespec up{};  // since the start
  ::clock_gettime(CLOCK_REALTIME, &now);
  ::clock_gettime(CLOCK_BOOTTIME, &up);
  const bool is_known = ::stat(path.c_str(), &status) == 0;
  if (is_known && status.st_mtim.tv_sec > now.tv_sec - up.tv_sec) return;
  cache.verify_all();
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // not allowed: it is looked at again
}

// Nothing when there is none that can be used.
std::shared_ptr<const RowCache> find_cache(const fs::path& path, const std::string& origin,
                                           std::uint32_t bits, const RowNews& news) {
  std::error_code error;
  if (!fs::exists(path, error)) return nullptr;
  try {
    auto cache = std::make_shared<const RowCache>(path);
    if (cache->info().source != origin || cache->info().bits != bits) return nullptr;
    expect_survived(*cache, path);
    return cache;
  } catch (const DataError& unusable) {
    news.warning(fmt::format("{} It is made again", unusable.what()));
  }
  return nullptr;
}

}  // namespace

RowFormat format_of(const std::string& files) {
  RowSource source;
  source.files = files;
  return settled(source, files_of(files)).format;
}

fs::path cache_path(const RowSource& source, Split split) {
  const std::vector<fs::path> files = files_of(source.files);
  const std::string name = digest(fmt::format(
      "{} {} {} {} {}", fs::absolute(source.files).string(), source.format.bits,
      name_of(source.format.format), static_cast<int>(source.format.target), source.test_share));
  const fs::path folder = source.cache_dir.empty() ? files.front().parent_path() : source.cache_dir;
  return folder / fmt::format("{}.{}{}.rows", files.front().filename().string(), name,
                              split == Split::kTest ? ".test" : "");
}

std::shared_ptr<const RowCache> open_rows(const RowSource& source, Split split,
                                          const RowNews& news) {
  const std::vector<fs::path> files = files_of(source.files);
  const RowFormatOptions format = settled(source, files);
  const std::string made_of = origin_of(files, format, source.test_share);
  const fs::path path = cache_path(source, split);
  if (auto cache = find_cache(path, made_of, format.bits, news)) {
    if (cache->info().bad_lines > source.most_bad) {
      throw DataError("{}: {} lines could not be parsed as {}, and --max-bad is {}", source.files,
                      format_count(cache->info().bad_lines), name_of(format.format),
                      source.most_bad);
    }
    return cache;
  }
  if (path.has_parent_path()) fs::create_directories(path.parent_path());
  CacheBuilder(source, files, format, news).build(made_of);
  return std::make_shared<const RowCache>(path);
}

}  // namespace paceline
