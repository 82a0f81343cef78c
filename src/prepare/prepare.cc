#include "prepare/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "base/units.h"
#include "data/prepared.h"
#include "prepare/group_step.h"
#include "prepare/number_step.h"
#include "prepare/read_step.h"
#include "prepare/sequence_file.h"
#include "prepare/word_table.h"
#include "prepare/work_folder.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::uint64_t kMega = 1'000'000;
constexpr std::uint64_t kOverhead = 48 * kMega;  // the program itself, and what files need
constexpr std::uint64_t kLeastPerThread = 64 * kMega;
constexpr std::uint64_t kMostPortion = 64 * kMega;
constexpr std::uint64_t kLeastPortion = 4 * kMega;
constexpr std::size_t kOpenFiles = 800;  // of the 1,024 that a process may usually have

// Tells how far a step is, from a thread of its own, until it is destroyed.
class Ticker {
 public:
  Ticker(const PrepareNews& news, const char* step, const std::atomic<std::uint64_t>& done,
         std::uint64_t before, std::uint64_t all, bool bytes)
      : thread_([this, &news, step, &done, before, all, bytes] {
          const TimePoint begun = Clock::now();
          std::unique_lock lock(mutex_);
          while (
              !changed_.wait_for(lock, std::chrono::milliseconds(100), [this] { return over_; })) {
            const double took = seconds(Clock::now() - begun);
            const std::uint64_t now = std::min(done.load(), all);
            PrepareProgress progress;
            progress.step = step;
            progress.done = all == 0 ? 1 : static_cast<double>(now) / static_cast<double>(all);
            const double rate = static_cast<double>(now - std::min(before, now)) / took;
            progress.bytes_per_second = bytes ? rate : 0;
            progress.seconds_left = rate > 0 ? static_cast<double>(all - now) / rate : -1;
            news.progress(progress);
          }
        }) {}
  ~Ticker() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

Json describe(const std::vector<InputFile>& files) {
  Json all = Json::array();
  for (const InputFile& file : files) {
    all.push_back({fs::absolute(file.path).string(), file.bytes, file.changed});
  }
  return all;
}

// The same for the same files, wherever they lie.
std::string checksum_of(const std::vector<InputFile>& files) {
  std::vector<std::string> lines;
  for (const InputFile& file : files) {
    lines.push_back(fmt::format("{} {}", file.path.filename().string(), file.bytes));
  }
  std::sort(lines.begin(), lines.end());
  return digest(join(lines, "\n"));
}

class Preparation {
 public:
  Preparation(const PrepareOptions& options, const StopFlag& stop, const PrepareNews& news)
      : options_(options),
        settings_(options.settings),
        stop_(stop),
        news_(news),
        files_(find_inputs(options.inputs, settings_.format, settings_.fields)),
        folder_(options.work_dir.empty() ? fs::path(options.output.string() + ".work")
                                         : options.work_dir,
                {{"settings", describe(settings_)}, {"inputs", describe(files_)}}, options.fresh),
        thread_memory_((options.memory - kOverhead) / options.threads) {
    if (folder_.resumed()) news_.notice("going on where an earlier run has stopped");
  }

  Json run() {
    const TimePoint begun = Clock::now();
    read();
    join_runs();
    group();
    choose_words();
    number();
    write();
    folder_.remove();
    Json summary = summarize();
    summary["seconds"] = seconds(Clock::now() - begun);
    return summary;
  }

 private:
  // ---- reading ---------------------------------------------------------------------------

  void read() {
    std::uint64_t bytes = 0;
    for (const InputFile& file : files_) bytes += file.bytes;
    const std::uint64_t even = bytes / (4 * options_.threads);
    const std::uint64_t allowed =
        std::clamp(even, kLeastPortion, std::min(kMostPortion, thread_memory_ / 2));
    const std::uint64_t portion_bytes = folder_.chosen(
        "portion_bytes", options_.portion_bytes == 0 ? allowed : options_.portion_bytes);
    const std::vector<Portion> portions = cut_into_portions(files_, portion_bytes);
    std::vector<ReadReport> reports(portions.size());
    std::vector<std::size_t> left;
    std::atomic<std::uint64_t> done = 0;
    for (std::size_t i = 0; i < portions.size(); ++i) {
      const Json report = read_done(read_name(i).string() + ".json");
      if (report.is_null()) {
        left.push_back(i);
      } else {
        reports[i] = read_report(report);
        done += portions[i].end - portions[i].begin;
      }
    }
    {
      const Ticker ticker(news_, "reading", done, done, bytes, true);
      run_tasks(left.size(), options_.threads, stop_, [&](std::size_t task) {
        const std::size_t i = left[task];
        reports[i] = read_portion(
            {files_[portions[i].file], portions[i], thread_memory_, read_name(i), done, stop_},
            settings_);
        write_done(read_name(i).string() + ".json", to_json(reports[i]));
      });
    }
    for (std::size_t i = 0; i < portions.size(); ++i) {
      read_.add(reports[i]);
      for (std::uint64_t k = 0; k < reports[i].runs; ++k)
        runs_.push_back(run_path(read_name(i), k));
    }
    if (runs_.empty()) give_up(fmt::format("there is no review to take: {}", reasons()));
  }

  // Going on would lead to the same end.
  [[noreturn]] void give_up(const std::string& why) {
    folder_.remove();
    throw DataError("{}", why);
  }

  fs::path read_name(std::size_t portion) const {
    return folder_ / fmt::format("read-{:06}", portion);
  }

  std::string reasons() const {
    std::vector<std::string> parts;
    for (std::size_t i = 1; i < kRejects; ++i) {
      if (read_.rejected[i] == 0) continue;
      parts.push_back(fmt::format("{} line(s) {}", format_count(read_.rejected[i]),
                                  sentence_of(static_cast<Reject>(i))));
    }
    return parts.empty() ? "the files are empty" : join(parts, ", ");
  }

  // A task of the next step opens all runs: there must not be too many.
  void join_runs() {
    const std::size_t most =
        folder_.chosen("fan_in", std::max<std::size_t>(8, kOpenFiles / options_.threads));
    for (int level = 0; runs_.size() > most; ++level) {
      std::vector<fs::path> joined;
      const std::size_t batches = (runs_.size() + most - 1) / most;
      for (std::size_t i = 0; i < batches; ++i) {
        joined.push_back(folder_ / fmt::format("joined-{}-{:04}.run", level, i));
      }
      run_tasks(batches, options_.threads, stop_, [&](std::size_t i) {
        if (fs::exists(joined[i])) return;
        const std::vector<fs::path> some(
            runs_.begin() + static_cast<std::ptrdiff_t>(i * most),
            runs_.begin() + static_cast<std::ptrdiff_t>(std::min(runs_.size(), (i + 1) * most)));
        merge_runs(some, joined[i],
                   std::clamp<std::size_t>(thread_memory_ / 2 / some.size(), std::size_t{16} << 10,
                                           std::size_t{1} << 20));
      });
      runs_ = std::move(joined);
    }
  }

  // ---- grouping --------------------------------------------------------------------------

  void group() {
    std::uint64_t bytes = 0;
    for (const fs::path& run : runs_) bytes += fs::file_size(run);
    const std::uint64_t wanted =
        std::max<std::uint64_t>(bytes / kMostPortion, 2 * options_.threads);
    tasks_ = folder_.chosen("group_tasks", std::min<std::uint64_t>(kSlices, std::bit_ceil(wanted)));
    std::vector<GroupReport> reports(tasks_);
    std::atomic<std::uint64_t> slices = 0;
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < tasks_; ++i) {
      const Json report = read_done(group_name(i).string() + ".json");
      if (report.is_null()) {
        left.push_back(i);
      } else {
        reports[i] = group_report(report);
        slices += kSlices / tasks_;
      }
    }
    {
      const Ticker ticker(news_, "grouping", slices, slices, kSlices, false);
      run_tasks(left.size(), options_.threads, stop_, [&](std::size_t task) {
        const std::size_t i = left[task];
        reports[i] = group_slices({runs_, i * kSlices / tasks_, (i + 1) * kSlices / tasks_,
                                   thread_memory_, group_name(i), slices, stop_},
                                  settings_);
        write_done(group_name(i).string() + ".json", to_json(reports[i]));
      });
    }
    for (std::size_t part = 0; part < kReviewParts; ++part) {
      parts_[part].part = static_cast<ReviewPart>(part);
      parts_[part].first_rows = {0};
    }
    for (std::size_t i = 0; i < tasks_; ++i) {
      grouped_.add(reports[i]);
      for (PartFiles& files : parts_) {
        files.paths.push_back(group_path(group_name(i), files.part));
        files.first_rows.push_back(files.rows() + reports[i].rows(files.part));
      }
      for (std::uint64_t k = 0; k < reports[i].lists; ++k)
        lists_.push_back(words_path(group_name(i), k));
    }
    if (parts_[0].rows() == 0) {
      give_up(
          fmt::format("there is no review to train on: {} texts are neither negative nor positive, "
                      "of {} nothing "
                      "is left without stop words",
                      format_count(grouped_.undecided), format_count(grouped_.empty)));
    }
  }

  fs::path group_name(std::size_t task) const { return folder_ / fmt::format("group-{:03}", task); }

  void choose_words() {
    if (!settings_.words.empty()) {
      words_ = settings_.words;
      return;
    }
    const fs::path kept = folder_ / "words.json";
    Json chosen = read_done(kept);
    if (chosen.is_null()) {
      const WordTotals totals = merge_words(lists_, settings_.vocabulary);
      chosen = {{"different", totals.different}, {"words", totals.words}};
      write_done(kept, chosen);
    }
    different_words_ = chosen["different"];
    words_ = chosen["words"].get<std::vector<std::string>>();
  }

  // ---- writing ---------------------------------------------------------------------------

  struct Rows {
    std::size_t part = 0;
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    fs::path path;
  };

  void number() {
    for (std::size_t part = 0; part < kReviewParts; ++part) {
      const std::uint64_t rows = parts_[part].rows();
      for (std::uint64_t first = 0; first < rows; first += kTaskRows) {
        rows_.push_back({part, first, std::min(first + kTaskRows, rows),
                         folder_ / fmt::format("{}-{:06}.chunks", name_of(parts_[part].part),
                                               first / kTaskRows)});
      }
    }
    if (options_.format == PrepareFormat::kTsv) return;
    const WordNumbers numbers(words_);
    wide_ = numbers.end() > (1U << 16);
    std::atomic<std::uint64_t> done = 0;
    const Ticker ticker(news_, "writing", done, 0, rows_.size(), false);
    run_tasks(rows_.size(), options_.threads, stop_, [&](std::size_t i) {
      const Rows& rows = rows_[i];
      if (!fs::exists(rows.path)) {
        number_rows({parts_[rows.part], rows.first, rows.end, rows.path, stop_}, numbers,
                    settings_);
      }
      ++done;
    });
  }

  void write() {
    if (options_.format == PrepareFormat::kTsv) return write_tsv();
    SequenceFile file(options_.output, {settings_.length, wide_ ? 4U : 2U, kChunkRows, kTaskRows});
    ContentSum sum;
    std::uint64_t all_words = 0;
    std::uint64_t unknown = 0;
    std::size_t part = kReviewParts;
    for (const Rows& rows : rows_) {
      throw_if_stopped(stop_);
      if (rows.part != part) {
        part = rows.part;
        file.begin_part(name_of(parts_[part].part), parts_[part].rows());
      }
      const NumberedRows numbered = read_numbered(rows.path);
      for (const std::string& chunk : numbered.ids) file.add_ids(chunk);
      file.add_labels(numbered.labels);
      sum.add(numbered.sum);
      all_words += numbered.words;
      unknown += numbered.unknown;
    }
    coverage_ =
        all_words == 0 ? 0 : 1 - static_cast<double>(unknown) / static_cast<double>(all_words);
    content_ = sum.text() + digest(join(words_, "\n"));
    file.set_words("vocabulary", words_);
    file.set_words("stop_words", settings_.stop_words);
    Json settings = describe(settings_);
    settings.erase("words");
    settings.erase("stop_words");
    file.set_attribute("settings", settings.dump());
    file.set_attribute("counts", counts().dump());
    file.set_attribute("input_checksum", checksum_of(files_));
    file.set_attribute("content_checksum", content_);
    file.commit();
  }

  void write_tsv() {
    AtomicFile file(options_.output);
    const Vocabulary known(words_);
    std::string text;
    std::string words;
    for (const Rows& rows : rows_) {
      throw_if_stopped(stop_);
      for_each_row(
          parts_[rows.part], rows.first, rows.end, [&](std::uint64_t, const GroupedReview& review) {
            words.clear();
            for (const std::string& word : split(review.words, ' ')) {
              words += words.empty() ? "" : " ";
              words += known.number(word) == Vocabulary::kUnknown ? "?" : word;
            }
            text +=
                fmt::format("{}\t{}\t{}\n", name_of(parts_[rows.part].part), review.label, words);
            if (text.size() < kMega) return;
            file.write(std::string_view(text));
            text.clear();
          });
    }
    file.write(std::string_view(text));
    file.commit();
  }

  // ---- telling ---------------------------------------------------------------------------

  Json counts() const {
    Json rejected = Json::object();
    for (std::size_t i = 1; i < kRejects; ++i) {
      if (read_.rejected[i] > 0) rejected[sentence_of(static_cast<Reject>(i))] = read_.rejected[i];
    }
    Json parts = Json::object();
    for (const PartFiles& files : parts_) {
      const auto& labels = grouped_.labels[static_cast<std::size_t>(files.part)];
      if (files.rows() > 0) {
        parts[name_of(files.part)] = {
            {"rows", files.rows()}, {"negative", labels[0]}, {"positive", labels[1]}};
      }
    }
    return {{"rows_in", read_.rows},
            {"rejected", rejected},
            {"replaced_bytes", read_.replaced_bytes},
            {"texts", grouped_.texts},
            {"duplicates", grouped_.duplicates},
            {"undecided", grouped_.undecided},
            {"empty", grouped_.empty},
            {"parts", parts},
            {"words", grouped_.words},
            {"cut", grouped_.cut},
            {"lengths", grouped_.lengths},
            {"different_words", different_words_},
            {"vocabulary", words_.size()},
            {"coverage", coverage_}};
  }

  Json summarize() const {
    Json summary = counts();
    std::uint64_t bytes = 0;
    for (const InputFile& file : files_) bytes += file.bytes;
    summary["input_bytes"] = bytes;
    summary["files"] = files_.size();
    summary["output"] = options_.output.string();
    summary["output_bytes"] = fs::file_size(options_.output);
    if (!content_.empty()) summary["content_checksum"] = content_;
    return summary;
  }

  const PrepareOptions& options_;
  const PrepareSettings& settings_;
  const StopFlag& stop_;
  const PrepareNews& news_;
  std::vector<InputFile> files_;
  WorkFolder folder_;
  std::uint64_t thread_memory_;
  ReadReport read_;
  std::vector<fs::path> runs_;
  std::uint64_t tasks_ = 0;  // of grouping
  GroupReport grouped_;
  std::array<PartFiles, kReviewParts> parts_;
  std::vector<fs::path> lists_;  // of counted words
  std::vector<std::string> words_;
  std::uint64_t different_words_ = 0;
  std::vector<Rows> rows_;
  bool wide_ = false;
  double coverage_ = 0;
  std::string content_;
};

}  // namespace

unsigned threads_for(std::uint64_t memory, unsigned cores) {
  const std::uint64_t room = (memory - std::min(memory, kOverhead)) / kLeastPerThread;
  return static_cast<unsigned>(std::clamp<std::uint64_t>(room, 1, std::max(1U, cores)));
}

Json prepare_reviews(const PrepareOptions& wanted, const StopFlag& stop, const PrepareNews& news) {
  PrepareOptions options = wanted;
  if (options.threads == 0) options.threads = threads_for(options.memory, available_cores());
  check_settings(options.settings);
  if (options.memory < kOverhead + options.threads * kLeastPerThread) {
    throw ConfigError("--memory {} is too little for {} thread(s): at least {}, or fewer --threads",
                      format_bytes(options.memory), options.threads,
                      format_bytes(kOverhead + options.threads * kLeastPerThread));
  }
  return Preparation(options, stop, news).run();
}

}  // namespace paceline
