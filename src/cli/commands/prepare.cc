#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/file/file.h"
#include "base/signals.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/commands/commands.h"
#include "cli/console.h"
#include "cli/format.h"
#include "data/clean.h"
#include "prepare/stop_words.h"
#include "prepare/streaming.h"

namespace paceline {
namespace {

constexpr const char* kPrepareExamples = R"(Examples:
  paceline prepare reviews reviews.jsonl --output reviews.h5
)";
constexpr const char* kReviewsExamples = R"(Examples:
  paceline prepare reviews reviews.jsonl.gz --output reviews.h5
  paceline prepare reviews 'part-*.json' --output r.h5 --test-share 0.1 --memory 4G
  paceline prepare reviews stars.tsv --output look.tsv --format tsv
  zcat all.gz | paceline prepare reviews - --output reviews.h5
  mpirun -n 4 paceline prepare reviews part-*.json --output reviews.h5
  paceline train sentiment --data reviews --data-file reviews.h5
)";

// One line that is redrawn on a terminal, or a line now and then beside the output: that may be
// read by a program.
class StepLine {
 public:
  StepLine(const Session& session, bool quiet) : session_(session), quiet_(quiet) {}
  ~StepLine() { clear(); }
  StepLine(const StepLine&) = delete;
  StepLine& operator=(const StepLine&) = delete;

  void show(const PrepareProgress& progress) {
    if (quiet_) return;
    const bool redrawn = session_.environment.terminal;
    if (!redrawn && Clock::now() - shown_ < kPlainInterval) return;
    shown_ = Clock::now();
    std::string right;
    if (progress.done >= 0) right = fmt::format(" {:3.0f} %", std::floor(progress.done * 100));
    if (progress.bytes_per_second > 0) {
      right += "  " + format_bytes(static_cast<std::uint64_t>(progress.bytes_per_second)) + "/s";
    }
    if (progress.seconds_left >= 0) right += "  ETA " + clock_time(progress.seconds_left);
    std::string line = fmt::format("{:<9}", progress.step);
    if (redrawn) {
      constexpr std::size_t kWidestBar = 40;
      constexpr std::size_t kFree = 3;  // the last column, and two for the "^C" of Ctrl-C
      const auto columns = static_cast<std::size_t>(std::max(session_.environment.columns, 1));
      const std::size_t used = line.size() + 1 + display_width(right) + kFree;
      if (columns > used + 4 && progress.done >= 0) {
        line += " " + progress_bar(progress.done, std::min(kWidestBar, columns - used),
                                   session_.environment.color);
      }
      session_.out << "\r\x1b[K" << line << right << std::flush;
      drawn_ = true;
    } else {
      session_.err << line << right << std::endl;
    }
  }
  void note(const std::string& sentence) {
    clear();
    if (quiet_) return;
    (session_.environment.terminal ? session_.out : session_.err) << sentence << std::endl;
  }

 private:
  void clear() {
    if (drawn_) session_.out << "\r\x1b[K" << std::flush;
    drawn_ = false;
  }

  const Session& session_;
  bool quiet_;
  bool drawn_ = false;
  TimePoint shown_ = Clock::now();
};

std::string percent(double part, double all) {
  return all > 0 ? fmt::format(" ({:.1f} %)", 100 * part / all) : "";
}

// How many reviews have how many words, a bar for each ten.
std::string length_plot(const std::vector<std::uint64_t>& lengths) {
  constexpr double kWidth = 40;
  const std::uint64_t most = std::max<std::uint64_t>(1, *std::ranges::max_element(lengths));
  std::size_t last = lengths.size();
  while (last > 1 && lengths[last - 1] == 0) --last;
  std::string text;
  for (std::size_t i = 0; i < last; ++i) {
    const auto width = static_cast<std::size_t>(
        std::lround(kWidth * static_cast<double>(lengths[i]) / static_cast<double>(most)));
    std::string bar;
    for (std::size_t k = 0; k < width; ++k) bar += "█";
    const std::string range = i + 1 == lengths.size() ? fmt::format("{}+", i * 10)
                                                      : fmt::format("{}–{}", i * 10, i * 10 + 9);
    text += fmt::format("  {:>7}  {} {}\n", range, bar, format_count(lengths[i]));
  }
  return text;
}

void show_summary(const nlohmann::json& s, const Session& session, std::ostream& out) {
  std::vector<std::vector<std::string>> rows;
  const auto count = [](const nlohmann::json& number) { return format_count(number); };
  const auto row = [&](const std::string& name, const std::string& value) {
    rows.push_back({"  " + name, value});
  };
  const double taken = s["rows_in"];
  row("rows in", count(s["rows_in"]));
  for (const auto& [reason, number] : s["rejected"].items()) {
    row("  " + reason, count(number) + percent(number, taken));
  }
  if (s["replaced_bytes"] > 0) row("bytes that are not UTF-8", count(s["replaced_bytes"]));
  row("different texts", count(s["texts"]));
  row("duplicates", count(s["duplicates"]) + percent(s["duplicates"], taken));
  if (s["undecided"] > 0) row("neither negative nor positive", count(s["undecided"]));
  if (s["empty"] > 0) row("without a word that counts", count(s["empty"]));
  for (const auto& [name, part] : s["parts"].items()) {
    row(name, count(part["rows"]));
    row("  positive", count(part["positive"]) + percent(part["positive"], part["rows"]));
  }
  row("words", count(s["words"]));
  if (s["different_words"] > 0) row("different words", count(s["different_words"]));
  row("vocabulary", fmt::format("{}{}", count(s["vocabulary"]),
                                s["coverage"] > 0 ? fmt::format(", {:.1f} % of what is kept",
                                                                100 * s["coverage"].get<double>())
                                                  : ""));
  row("cut off", count(s["cut"]));
  const double took = s["seconds"];
  row("input",
      fmt::format("{} in {} file(s), {}/s", format_bytes(s["input_bytes"]), count(s["files"]),
                  format_bytes(static_cast<std::uint64_t>(s["input_bytes"].get<double>() /
                                                          std::max(took, 1e-3)))));
  row("output",
      fmt::format("{}, {}", s["output"].get<std::string>(), format_bytes(s["output_bytes"])));
  if (s.contains("content_checksum")) row("content", s["content_checksum"]);
  row("took", format_duration(from_seconds(took)));
  out << format_table(rows, session.environment.columns) << "\n  words of a review\n"
      << length_plot(s["lengths"].get<std::vector<std::uint64_t>>());
  double rejected = 0;
  for (const auto& [reason, number] : s["rejected"].items()) rejected += number.get<double>();
  if (2 * rejected > taken) {
    out << "\nmost lines were left out: see --input-format, --text-field, --rating-field\n";
  }
}

template <typename Value>
void add_value(CLI::App& command, const char* name, Value& value, const char* what,
               const char* text) {
  command.add_option(name, value, what)->option_text(text);
}

void add_steps(CLI::App& command, PrepareReviewsOptions& options) {
  PrepareSettings& settings = options.prepare.settings;
  command
      .add_option("--input-format", options.input_format,
                  "auto, json (a line each), csv, tsv, or grouped: what reducers have written "
                  "[auto: by the first line]")
      ->check(CLI::IsMember({"auto", "json", "csv", "tsv", "grouped"}))
      ->option_text("NAME");
  add_value(command, "--text-field", settings.fields.text,
            "field or column of the text [reviewText, text]", "NAME");
  add_value(command, "--rating-field", settings.fields.rating,
            "field or column of the rating [overall, stars, rating]", "NAME");
  add_value(command, "--lowest-rating", settings.range.lowest, "lower ones are left out [1]", "N");
  add_value(command, "--highest-rating", settings.range.highest, "higher ones are left out [5]",
            "N");
  add_value(command, "--negative-up-to", settings.negative_up_to,
            "ratings up to this are negative [3]", "N");
  add_value(command, "--positive-from", settings.positive_from,
            "ratings from this on are positive [4]", "N");
  command
      .add_option("--duplicates", options.duplicates,
                  "group: equal texts become one, with the rating that most of them have, and of "
                  "several the lowest; keep [group]")
      ->check(CLI::IsMember({"group", "keep"}))
      ->option_text("NAME");
  add_value(command, "--stop-words", options.stop_words,
            "words to leave out: a file with one a line, or none [a list of our own]", "FILE");
  add_value(command, "--validation-share", settings.validation_share,
            "part of the texts to validate with [0]", "SHARE");
  add_value(command, "--test-share", settings.test_share, "part of the texts to test with [0]",
            "SHARE");
  CLI::Option* const count =
      command
          .add_option("--vocabulary", settings.vocabulary,
                      "how many of the most frequent words of the training part [10000]")
          ->option_text("N");
  command
      .add_option("--vocabulary-file", options.vocabulary_file, "the words themselves, one a line")
      ->option_text("FILE")
      ->excludes(count);
  add_value(command, "--length", settings.length, "words of a review, at most [100]", "N");
  command
      .add_option("--cut", options.cut, "which end of longer ones is left out: end or start [end]")
      ->check(CLI::IsMember({"end", "start"}))
      ->option_text("NAME");
}

std::vector<std::string> read_vocabulary(const std::filesystem::path& file) {
  std::vector<std::string> words;
  std::set<std::string> known;
  for (const std::string& line : split(read_text(file), '\n')) {
    std::string word;
    if (append_clean(line, word) > 0) throw DataError("{} is not a text in UTF-8", file.string());
    if (word.find(' ') != std::string::npos) {
      throw DataError("{}: '{}' is more than a word", file.string(), line);
    }
    if (!word.empty() && known.insert(word).second) words.push_back(std::move(word));
  }
  if (words.empty()) throw DataError("{} has no words", file.string());
  return words;
}

// What the words of the command line mean.
PrepareOptions settled(const PrepareReviewsOptions& given) {
  PrepareOptions options = given.prepare;
  PrepareSettings& settings = options.settings;
  for (const ReviewFormat format : {ReviewFormat::kAuto, ReviewFormat::kJson, ReviewFormat::kCsv,
                                    ReviewFormat::kTsv, ReviewFormat::kGrouped}) {
    if (given.input_format == name_of(format)) settings.format = format;
  }
  settings.duplicates = given.duplicates == "keep" ? Duplicates::kKeep : Duplicates::kGroup;
  settings.cut = given.cut == "start" ? TextCut::kStart : TextCut::kEnd;
  if (given.stop_words.empty()) {
    settings.stop_words = default_stop_words();
  } else if (given.stop_words != "none") {
    settings.stop_words = read_stop_words(given.stop_words);
  }
  if (!given.vocabulary_file.empty()) settings.words = read_vocabulary(given.vocabulary_file);
  options.format = given.format == "tsv" ? PrepareFormat::kTsv : PrepareFormat::kHdf5;
  options.memory = parse_bytes(given.memory);
  return options;
}

// A mapper sees a part of a file, and of these only the first has the names of columns.
void expect_no_names(const std::vector<InputFile>& files, const ReviewFields& fields) {
  const bool columns = std::ranges::any_of(files, [](const InputFile& file) {
    return file.format == ReviewFormat::kCsv || file.format == ReviewFormat::kTsv;
  });
  if (!columns || (column_number(fields.text) && column_number(fields.rating))) return;
  throw ConfigError(
      "--as mapper finds columns by their numbers: say which, as in --rating-field 1 "
      "--text-field 2");
}

void run_streaming(const PrepareReviewsOptions& options, const PrepareOptions& prepare,
                   const Session& session) {
  const bool maps = options.as == "mapper";
  if (!prepare.output.empty()) {
    throw ConfigError("--as {} writes to standard output: leave out --output", options.as);
  }
  const std::vector<std::string> inputs =
      prepare.inputs.empty() ? std::vector<std::string>{kStandardInput} : prepare.inputs;
  PrepareSettings settings = prepare.settings;
  check_settings(settings);
  if (!maps) settings.format = ReviewFormat::kGrouped;
  StopFlag stop = false;
  const StopSignals signals({SIGINT, SIGTERM}, [&stop] { stop = true; });
  const std::vector<InputFile> files = find_inputs(inputs, settings.format, settings.fields, stop);
  if (maps) expect_no_names(files, settings.fields);
  const auto work = maps ? map_reviews : reduce_reviews;
  write_counters(work(files, settings, stop, session.out), session.err);
}

void check_places(const PrepareOptions& prepare, StartedBy starter) {
  if (prepare.inputs.empty()) throw ConfigError("INPUT is missing: which files hold the reviews");
  if (prepare.output.empty()) throw ConfigError("--output is missing: where to write the result");
  if (prepare.parallel_output && starter == StartedBy::kUser) {
    throw ConfigError("--parallel-output is for several processes: start them with mpirun or srun");
  }
}

std::unique_ptr<Fleet> find_fleet(StartedBy starter) {
  switch (starter) {
    case StartedBy::kUser:
      return lone_process();
    case StartedBy::kMpi:
      return mpi_fleet();
    case StartedBy::kOtherLaunch:
      break;
  }
  throw ConfigError(
      "srun has started several processes that do not know each other: use srun --mpi=pmix");
}

void run_with(Fleet& fleet, const PrepareReviewsOptions& options, const Session& session) {
  PrepareOptions prepare;
  do_together(fleet, [&]() -> nlohmann::json {
    prepare = settled(options);
    check_places(prepare, session.environment.started_by);
    return {};
  });
  const bool first = fleet.rank() == 0;
  std::signal(SIGPIPE, SIG_IGN);  // whoever reads the output may leave early
  StopFlag stop = false;
  const StopSignals signals({SIGINT, SIGTERM}, [&stop] { stop = true; });
  nlohmann::json summary;
  try {
    StepLine line(session, options.quiet || options.json || !first);
    summary = prepare_reviews(prepare, fleet, stop,
                              {[&line](const PrepareProgress& progress) { line.show(progress); },
                               [&line](const std::string& sentence) { line.note(sentence); }});
  } catch (const Error& error) {
    if (error.code() != ExitCode::kInterrupted) throw;
    const bool piped = std::ranges::find(prepare.inputs, kStandardInput) != prepare.inputs.end();
    throw SharedError(piped ? "stopped; what was piped in must be piped in again"
                            : "stopped; the same command goes on from here",
                      ExitCode::kInterrupted);
  }
  if (!first) return;
  if (options.json) {
    session.out << summary.dump() << "\n";
  } else {
    // Not into what may be the output itself.
    const bool apart = !std::filesystem::is_regular_file(prepare.output);
    show_summary(summary, session, apart ? session.err : session.out);
  }
}

}  // namespace

void add_prepare_command(CLI::App& root, const CommandContext& context) {
  CLI::App& prepare = *root.add_subcommand("prepare", "Makes training data of raw data.");
  prepare.footer(kPrepareExamples);
  CLI::App& command = *prepare.add_subcommand(
      "reviews",
      "Makes token sequences of raw reviews: cleans them, joins equal ones, labels them by their "
      "rating, leaves out stop words, numbers the most frequent words and cuts or pads to one "
      "length. The result is one HDF5 file and the same whatever the number of threads and "
      "processes and the order of the files. What was interrupted goes on with the same command.");
  command.footer(kReviewsExamples);
  auto options = options_of<PrepareReviewsOptions>(command, context);
  command.add_option(
      "INPUT", options->prepare.inputs,
      "files, folders or patterns of JSON lines, CSV or TSV, each plain, gzip or zstd; "
      "'-' is standard input");
  command.add_option("--output", options->prepare.output, "the file to write")->option_text("FILE");
  command.add_option("--format", options->format, "of the output: hdf5, or tsv to look at [hdf5]")
      ->check(CLI::IsMember({"hdf5", "tsv"}))
      ->option_text("NAME");
  command
      .add_option(
          "--as", options->as,
          "mapper or reducer: group reviews as Hadoop Streaming does, from standard input to "
          "standard output")
      ->check(CLI::IsMember({"mapper", "reducer"}))
      ->option_text("NAME");
  add_steps(command, *options);
  add_value(command, "--threads", options->prepare.threads, "how many [the cores there are]", "N");
  add_value(command, "--memory", options->memory, "to use, at most [1G]", "BYTES");
  add_value(command, "--work-dir", options->prepare.work_dir,
            "folder in which to make a folder for what is between [OUTPUT.work, beside the output]",
            "PATH");
  command.add_flag(
      "--parallel-output", options->prepare.parallel_output,
      "with mpirun or srun: all processes write the output, with parallel HDF5, for file "
      "systems that many hosts can write to at once [the first process does]");
  command.add_flag("--fresh", options->prepare.fresh,
                   "begin anew, whatever an earlier run has left");
  command.add_flag("--json", options->json, "the summary as one JSON object");
  command.add_flag("--quiet", options->quiet, "no progress");
}

void run(const PrepareReviewsOptions& options, const Session& session) {
  if (!options.as.empty()) return run_streaming(options, settled(options), session);
  const std::unique_ptr<Fleet> fleet = find_fleet(session.environment.started_by);
  try {
    run_with(*fleet, options, session);
  } catch (const SharedError& error) {
    // Before any of them ends: mpirun ends the others then.
    if (fleet->rank() == 0) session.err << "paceline: " << error.what() << std::endl;
    fleet->gather({});
    throw SharedError("", error.code());
  }
}

}  // namespace paceline
