#include "prepare/prepare.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/error.h"
#include "base/process.h"
#include "base/text.h"
#include "base/units.h"
#include "prepare/check_options.h"
#include "prepare/stages.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// Of what lies in the folder of a run: to be raised when a stage makes something else of the same
// input, so that no run goes on with what an older program has made.
constexpr int kStagesVersion = 1;

Json describe(const std::vector<InputFile>& files) {
  Json all = Json::array();
  for (const InputFile& file : files) {
    const fs::path path = file.piped() ? file.path : fs::absolute(file.path);
    all.push_back({path.string(), file.bytes, file.changed});
  }
  return all;
}

// The same for the same files, wherever they lie.
std::string checksum_of(const std::vector<InputFile>& files) {
  std::vector<std::string> lines;
  lines.reserve(files.size());
  for (const InputFile& file : files) {
    lines.push_back(fmt::format("{} {}", file.path.filename().string(), file.bytes));
  }
  std::sort(lines.begin(), lines.end());
  return digest(join(lines, "\n"));
}

class Preparation {
 public:
  Preparation(const PrepareOptions& options, Fleet& fleet, const StopFlag& stop,
              const PrepareNews& news)
      : options_(options), fleet_(fleet), stop_(stop), news_(news) {
    open();
  }

  Json run() {
    const TimePoint begun = Clock::now();
    const PrepareContext context{options_, fleet_, *folder_, stop_, news_, thread_memory(options_)};
    ReadResult read = read_stage(context, files_);
    if (read.all.runs == 0) {
      give_up(
          fmt::format("there is no review to take: {}; see --input-format, --text-field and "
                      "--rating-field",
                      reasons(read.all)));
    }
    const GroupResult grouped = group_stage(context, std::move(read.runs));
    if (grouped.parts[0].all == 0) {
      give_up(fmt::format(
          "there is no review to train on: {} texts are neither negative nor "
          "positive, of {} nothing is left without stop words, {} are for validation and test; "
          "left "
          "out before: {}",
          format_count(grouped.all.undecided), format_count(grouped.all.empty),
          format_count(grouped.parts[1].all + grouped.parts[2].all), reasons(read.all)));
    }
    const WordResult words = word_stage(context, grouped);
    const NumberResult numbered = number_stage(context, grouped, words.words);
    Json counts = count(read.all, grouped, words, numbered.all);
    const Description description = describe_output(words, numbered.all, counts);
    write_stage(context, grouped, numbered, description);
    remove_folders();
    add_totals(counts, description, read.all.bytes);
    counts["seconds"] = seconds(Clock::now() - begun);
    return counts;
  }

 private:
  // What all processes see must be the same.
  void open() {
    const auto seen = do_together(fleet_, [this]() -> Json {
      check_options(options_, fleet_);
      files_ = find_inputs(options_.inputs, options_.settings.format, options_.settings.fields,
                           stop_, options_.output);
      check_places(options_, files_, fleet_);
      return digest(describe(files_).dump());
    });
    do_together(fleet_, [&]() -> Json {
      const auto other =
          std::ranges::find_if(seen, [&](const Json& sum) { return sum != seen[0]; });
      if (other != seen.end()) {
        throw DataError(
            "process {} sees other files than the first: they must lie where all "
            "processes can read them",
            other - seen.begin() + 1);
      }
      return {};
    });
    open_folders();
    if (folder_->resumed() && fleet_.rank() == 0) {
      news_.notice("going on where an earlier run has stopped");
    }
  }

  // The first process has the folder; of several each has one in it. Outputs of the same name may
  // share a --work-dir.
  void open_folders() {
    const std::string name = options_.output.filename().string();
    const std::string place = fs::absolute(options_.output).lexically_normal().string();
    work_ = options_.work_dir.empty()
                ? options_.output.parent_path() / (name + ".work")
                : options_.work_dir / fmt::format("{}-{}.work", name, digest(place).substr(0, 8));
    Json made_of = {{"settings", describe(options_.settings)},
                    {"inputs", describe(files_)},
                    {"format", options_.format == PrepareFormat::kTsv ? "tsv" : "hdf5"},
                    {"processes", fleet_.size()},
                    {"stages", kStagesVersion},
                    {"parallel_output", options_.parallel_output}};
    // What was piped in cannot be compared with what is piped in now.
    using Earlier = WorkFolder::Earlier;
    const bool piped = std::ranges::any_of(files_, &InputFile::piped);
    const Earlier earlier = options_.fresh ? Earlier::kDiscard
                            : piped        ? Earlier::kDiscardSame
                                           : Earlier::kGoOn;
    do_together(fleet_, [&]() -> Json {
      if (fleet_.rank() == 0) top_.emplace(work_, made_of, earlier);
      return {};
    });
    if (fleet_.size() == 1) {
      folder_ = &*top_;
      return;
    }
    do_together(fleet_, [&]() -> Json {
      made_of["process"] = fleet_.rank();
      mine_.emplace(work_ / fmt::format("process-{}", fleet_.rank()), made_of, earlier);
      return {};
    });
    folder_ = &*mine_;
  }

  void remove_folders() {
    do_together(fleet_, [this]() -> Json {
      std::error_code ignored;
      if (mine_) mine_->remove();
      if (!top_) fs::remove(work_, ignored);  // of another host, when nothing else is in it
      return {};
    });
    if (top_) top_->remove();
  }

  // Going on would lead to the same end.
  [[noreturn]] void give_up(const std::string& why) {
    remove_folders();
    do_together(fleet_, [&]() -> Json { throw DataError("{}", why); });
    PACELINE_CHECK(false && "one process alone has thrown");
    std::abort();
  }

  static std::string reasons(const ReadReport& report) {
    std::vector<std::string> parts;
    for (std::size_t i = 1; i < kRejects; ++i) {
      if (report.rejected[i] == 0) continue;
      parts.push_back(fmt::format("{} line(s) {}", format_count(report.rejected[i]),
                                  sentence_of(static_cast<Reject>(i))));
    }
    return !parts.empty()     ? join(parts, ", ")
           : report.rows == 0 ? "the files are empty"
                              : "nothing";
  }

  static Json count(const ReadReport& read, const GroupResult& grouped, const WordResult& words,
                    const NumberReport& numbered) {
    Json rejected = Json::object();
    for (std::size_t i = 1; i < kRejects; ++i) {
      if (read.rejected[i] > 0) rejected[sentence_of(static_cast<Reject>(i))] = read.rejected[i];
    }
    Json parts = Json::object();
    for (const PartRows& rows : grouped.parts) {
      const auto& labels = grouped.all.labels[static_cast<std::size_t>(rows.part)];
      if (rows.all > 0) {
        parts[name_of(rows.part)] = {
            {"rows", rows.all}, {"negative", labels[0]}, {"positive", labels[1]}};
      }
    }
    const double unknown = static_cast<double>(numbered.unknown);
    return {
        {"rows_in", read.rows},
        {"rejected", rejected},
        {"replaced_bytes", read.replaced_bytes},
        {"texts", grouped.all.texts},
        {"duplicates", grouped.all.duplicates},
        {"undecided", grouped.all.undecided},
        {"empty", grouped.all.empty},
        {"parts", parts},
        {"words", grouped.all.words},
        {"cut", grouped.all.cut},
        {"lengths", grouped.all.lengths},
        {"different_words", words.different},
        {"vocabulary", words.words.size()},
        {"coverage", numbered.words == 0 ? 0 : 1 - unknown / static_cast<double>(numbered.words)}};
  }

  Description describe_output(const WordResult& words, const NumberReport& numbered,
                              const Json& counts) const {
    Json settings = describe(options_.settings);
    settings.erase("words");
    settings.erase("stop_words");
    return {words.words, settings.dump(), counts.dump(), checksum_of(files_),
            numbered.sum.text() + digest(join(words.words, "\n"))};
  }

  // What is no property of the content. Only the first process need see the output.
  void add_totals(Json& summary, const Description& description, std::uint64_t bytes) {
    summary["input_bytes"] = bytes;
    summary["files"] = files_.size();
    summary["processes"] = fleet_.size();
    summary["output"] = options_.output.string();
    summary["output_bytes"] = do_together(fleet_, [this] {
      std::error_code none;  // it may be a pipe
      const std::uintmax_t size = fleet_.rank() == 0 ? fs::file_size(options_.output, none) : 0;
      return none ? 0 : size;
    })[0];
    summary["content_checksum"] = description.content_checksum;
  }

  const PrepareOptions& options_;
  Fleet& fleet_;
  const StopFlag& stop_;
  const PrepareNews& news_;
  std::vector<InputFile> files_;
  std::optional<WorkFolder> top_;   // of the first process
  std::optional<WorkFolder> mine_;  // of each, when there are several
  WorkFolder* folder_ = nullptr;
  fs::path work_;
};

// A merge has many files open, and the usual limit is meant for programs that use select().
void allow_open_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// A launcher may have given each process some of the host's cores; otherwise they share all.
unsigned cores_of_process(const Fleet& fleet) {
  const unsigned cores = available_cores();
  const bool all = static_cast<long>(cores) == ::sysconf(_SC_NPROCESSORS_ONLN);
  return all ? cores / fleet.neighbours() : cores;
}

}  // namespace

Json prepare_reviews(const PrepareOptions& wanted, Fleet& fleet, const StopFlag& stop,
                     const PrepareNews& news) {
  PrepareOptions options = wanted;
  if (options.threads == 0) {
    options.threads = threads_for(options, cores_of_process(fleet));
  }
  allow_open_files();
  try {
    return Preparation(options, fleet, stop, news).run();
  } catch (const SharedError&) {
    throw;
  } catch (const Error& error) {
    fleet.abandon(error);
    throw;
  } catch (const Json::exception& error) {
    const DataError damaged(
        "what lies in the folder of an earlier run is damaged ({}): --fresh begins anew",
        error.what());
    fleet.abandon(damaged);
    throw damaged;
  } catch (const std::exception&) {
    fleet.abandon(current_error());
    throw;
  }
}

}  // namespace paceline
