#include "train/run_record.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/file/file.h"
#include "base/json.h"
#include "base/log.h"
#include "data/catalogue/open.h"

namespace paceline {
namespace {

constexpr double kProgressEvery = 0.1;  // seconds
constexpr std::size_t kMostPending = 64 << 10;

// Of an epoch's line, what the summary keeps.
nlohmann::json result_of(const nlohmann::json& line) {
  nlohmann::json result;
  for (const char* key : {"epoch", "train_loss", "test_loss", "seconds"}) {
    result[key] = line.value(key, nlohmann::json());
  }
  for (const char* key : {"test_accuracy", "test_rmse", "test_f1", "test_auc"}) {
    if (line.contains(key)) result[key] = line[key];
  }
  return result;
}

double mean(double sum, double weight) {
  return weight > 0 ? sum / weight : 0;
}

}  // namespace

RunRecord::RunRecord(const RunConfig& config, const Grid& grid, int status_fd,
                     std::optional<std::uint64_t> bad_lines)
    : config_(config),
      grid_(grid),
      status_fd_(status_fd),
      metrics_(config.run_dir / "metrics.jsonl"),
      measure_(predicts_numbers(config.model) ? "test_rmse" : "test_accuracy"),
      begun_(Clock::now()),
      bad_lines_(bad_lines) {
  if (status_fd_ >= 0) ::fcntl(status_fd_, F_SETFL, O_NONBLOCK);
}

// A run may have gone on from the checkpoint before: the last word on an epoch counts.
void RunRecord::resumed(const std::filesystem::path& checkpoint, std::uint64_t version) {
  const auto metrics = checkpoint.parent_path().parent_path() / "metrics.jsonl";
  for (const auto& line : read_epochs(metrics, version)) results_.push_back(result_of(line));
}

void RunRecord::tell(const nlohmann::json& line) {
  if (status_fd_ < 0) return;
  pending_ += to_text(line) + "\n";
  flush();
}

void RunRecord::flush() {
  while (status_fd_ >= 0 && !pending_.empty()) {
    const ssize_t written = ::write(status_fd_, pending_.data(), pending_.size());
    if (written > 0) {
      pending_.erase(0, static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      status_fd_ = -1;  // nobody listens any more
    }
  }
}

// What was not taken yet is not overtaken; what is old news then is left out.
void RunRecord::record(const nlohmann::json& line) {
  const bool passing = line["type"] == "progress" || line["type"] == "epoch";
  if (!passing || pending_.size() < kMostPending) tell(line);
  metrics_.write(line, line["type"] == "progress" ? MetricsFile::Need::kIfThereIsTime
                                                  : MetricsFile::Need::kAlways);
}

double RunRecord::elapsed() const {
  return has_begun_ ? seconds(Clock::now() - begun_) : 0;
}

void RunRecord::address(const std::string& text) {
  tell({{"type", "address"}, {"address", text}});
}

void RunRecord::begun(std::uint64_t examples_done) {
  begun_ = Clock::now();
  has_begun_ = true;
  examples_at_start_ = examples_done;
  record({{"type", "begun"}, {"examples_done", examples_done}});
}

void RunRecord::progress(std::uint64_t examples, const wire::Complete& sums) {
  if (sums.whole()) {
    predictions_ -= sums_.predictions();
    skipped_ -= sums_.skipped();
    sums_.Clear();
  }
  sums_.set_loss(sums_.loss() + sums.loss());
  sums_.set_weight(sums_.weight() + sums.weight());
  sums_.set_correct(sums_.correct() + sums.correct());
  sums_.set_predictions(sums_.predictions() + sums.predictions());
  predictions_ += sums.predictions();
  sums_.set_examples(sums_.examples() + sums.examples());
  sums_.set_skipped(sums_.skipped() + sums.skipped());
  skipped_ += sums.skipped();
  const double now = elapsed();
  const double loss = mean(sums_.loss(), sums_.weight());
  if (sums.pinned()) {
    EpochRecord& epoch = epochs_[sums.version()];
    epoch = {
        loss, sums_.correct(), sums_.predictions(), sums_.examples(), now, now - last_epoch_end_,
        false};
    last_epoch_end_ = now;
    trained_ = now;
    sums_.Clear();
  }
  if (sums_.weight() == 0 || now - last_progress_ < kProgressEvery) return;
  last_progress_ = now;
  const std::uint64_t total = grid_.examples * config_.epochs;
  const double rate = now > 0 ? static_cast<double>(examples - examples_at_start_) / now : 0;
  record({{"type", "progress"},
          {"seconds", now},
          {"epoch", std::min(config_.epochs, examples / grid_.examples + 1)},
          {"epochs", config_.epochs},
          {"examples_done", examples},
          {"examples_total", total},
          {"examples_per_second", rate},
          {"train_loss", loss}});
}

void RunRecord::epoch_trained(std::uint64_t epoch, std::uint64_t version) {
  spdlog::info("epoch {} is trained (version {})", epoch + 1, version);
}

void RunRecord::evaluated(const wire::Evaluated& evaluated) {
  nlohmann::json tested = {{"test_loss", evaluated.loss()}};
  if (evaluated.has_accuracy()) tested["test_accuracy"] = evaluated.accuracy();
  if (evaluated.has_rmse()) tested["test_rmse"] = evaluated.rmse();
  if (evaluated.has_f1()) tested["test_f1"] = evaluated.f1();
  if (evaluated.has_auc()) tested["test_auc"] = evaluated.auc();
  epoch(evaluated.epoch(), evaluated.version(), tested);
}

void RunRecord::untested(std::uint64_t number, std::uint64_t version) {
  epoch(number, version, {{"test_loss", nullptr}, {measure_, nullptr}});
}

void RunRecord::epoch(std::uint64_t number, std::uint64_t version, const nlohmann::json& tested) {
  EpochRecord& epoch = epochs_[version];
  epoch.written = true;
  nlohmann::json line = {{"type", "epoch"},          {"epoch", number + 1},
                         {"epochs", config_.epochs}, {"version", version},
                         {"train_loss", epoch.loss}, {"examples", epoch.examples},
                         {"seconds", epoch.seconds}, {"ended_seconds", epoch.ended}};
  if (!predicts_numbers(config_.model)) {
    line["train_accuracy"] =
        mean(static_cast<double>(epoch.correct), static_cast<double>(epoch.predictions));
  }
  line.update(tested);
  results_.push_back(result_of(line));
  record(line);
}

void RunRecord::worker_epoch(const std::string& worker, const wire::WorkerEpoch& result) {
  const nlohmann::json line = {{"type", "worker_epoch"},
                               {"worker", worker},
                               {"epoch", result.epoch() + 1},
                               {measure_, result.has_rmse() ? result.rmse() : result.accuracy()},
                               {"test_loss", result.loss()},
                               {"seconds", elapsed()}};
  auto& epochs = worker_epochs_[worker];
  if (!epochs.is_array()) epochs = nlohmann::json::array();
  epochs.push_back(line);
  record(line);
}

void RunRecord::notice(const std::string& text) {
  spdlog::info("{}", text);
  record({{"type", "notice"}, {"seconds", elapsed()}, {"text", text}});
}

void RunRecord::warning(const std::string& text) {
  spdlog::warn("{}", text);
  record({{"type", "warning"}, {"seconds", elapsed()}, {"text", text}});
}

void RunRecord::stopping() {
  tell({{"type", "stopping"}});
}

void RunRecord::leaving(const std::string& doing, Hears hears) {
  spdlog::info("is leaving: {}", doing);
  tell({{"type", "leaving"}, {"doing", doing}, {"hears", hears == Hears::kYes}});
}

double RunRecord::epoch_seconds(std::uint64_t version) const {
  return epochs_.at(version).seconds;
}

nlohmann::json RunRecord::summary(std::uint64_t examples, nlohmann::json roles,
                                  const std::optional<Error>& error) {
  // The end may have come before their test.
  for (const auto& [version, epoch] : std::map(epochs_)) {
    if (!epoch.written) untested(version / grid_.steps_per_epoch() - 1, version);
  }
  const double took =
      trained_ > 0 && examples == grid_.examples * config_.epochs ? trained_ : elapsed();
  const std::uint64_t done = examples - std::min(examples, examples_at_start_);
  nlohmann::json time = nlohmann::json::array();
  double computing = 0;
  double all = 0;
  for (nlohmann::json& role : roles) {
    if (!role.contains("time")) continue;
    for (const auto& [phase, value] : role["time"].items()) {
      if (phase == "forward_seconds" || phase == "backward_seconds")
        computing += value.get<double>();
      if (phase != "step_seconds") all += value.get<double>();
    }
    time.push_back(std::move(role["time"]));
    time.back()["name"] = role["name"];
    role.erase("time");
  }
  for (nlohmann::json& role : roles) {
    // A synchronous worker holds exactly the version that was tested.
    if (role["role"] != "worker") continue;
    const auto own = worker_epochs_.find(role["name"]);
    role["epochs"] = own != worker_epochs_.end() ? own->second : nlohmann::json::array();
    if (config_.mode != Mode::kSync) continue;
    for (const nlohmann::json& epoch : results_) {
      role["epochs"].push_back(
          {{"epoch", epoch["epoch"]}, {measure_, epoch.value(measure_, nlohmann::json())}});
    }
  }
  nlohmann::json summary = {
      {"recipe", config_.recipe},
      {"run_dir", config_.run_dir.string()},
      {"status", error ? "incomplete" : "complete"},
      {"examples", done},
      {"examples_total", examples},
      {"epochs", results_.size()},
      {"train_seconds", took},
      {"examples_per_second", took > 0 ? static_cast<double>(done) / took : 0},
      {"workers", config_.workers},
      {"servers", config_.exchange == ExchangeKind::kPs ? config_.servers : 0},
      {"batch", config_.batch},
      {"steps_skipped", skipped_},
      {"epoch_results", results_},
      {"roles", std::move(roles)},
      {"time", std::move(time)}};
  if (error) summary["error"] = error->what();
  // Of what the workers could do if they never waited for data, parameters or each other.
  if (all > 0) summary["share_of_ceiling"] = computing / all;
  std::set<std::string> unreadable = unreadable_;
  unreadable.insert(unreadable_tests_.begin(), unreadable_tests_.end());
  if (!unreadable.empty()) {
    summary["unreadable"] = unreadable.size();
    summary["unreadable_files"] = std::move(unreadable);
  }
  if (bad_lines_) summary["bad_lines"] = *bad_lines_;
  // Of models that predict words.
  if (predictions_ > done && took > 0) {
    summary["words_per_second"] = static_cast<double>(predictions_) / took;
  }
  const nlohmann::json last = results_.empty() ? nlohmann::json::object() : results_.back();
  for (const char* name : {"test_f1", "test_auc"}) {
    if (last.contains(name)) summary[name] = last[name];
  }
  for (const char* name : {measure_, "test_loss", "train_loss"}) {
    summary[name] = last.value(name, nlohmann::json());
  }
  write_out();
  write_atomically(config_.run_dir / "summary.json", to_text(summary, 2) + "\n");
  tell({{"type", "summary"}, {"summary", summary}});
  for (pollfd room{status_fd_, POLLOUT, 0}; !pending_.empty() && status_fd_ >= 0; flush()) {
    ::poll(&room, 1, -1);  // it is the last word
  }
  return summary;
}

}  // namespace paceline
