#include <atomic>
#include <csignal>

#include "base/error.h"
#include "base/log.h"
#include "base/signals.h"
#include "data/catalogue/open.h"
#include "exchange/ps/reader.h"
#include "exchange/ps/row_reader.h"
#include "infer/test.h"
#include "session/failure.h"
#include "session/heartbeat.h"
#include "session/member.h"
#include "session/message.h"
#include "train/evaluated.h"
#include "train/heartbeat.h"
#include "train/role.h"
#include "train/sparse_rows.h"
#include "train/workload.h"

namespace paceline {
namespace {

class EvaluatorRole {
 public:
  explicit EvaluatorRole(const RoleContext& role)
      : role_(role),
        workload_(make_workload(role)),
        tests_(open_dataset(role.config.data, Split::kTest)),
        by_rows_(exchanges_rows(role.config)),
        test_rows_(by_rows_ ? open_rows(role.config.data, Split::kTest) : nullptr),
        values_(Buffer::floats(by_rows_ ? 0 : workload_.chunks.floats())),
        loop_(Duration::zero()),
        member_(line_options(role, "evaluator"),
                {[this](wire::Type type, std::string_view) {
                   heard(type);
                   return false;
                 },
                 [this] {
                   const std::lock_guard lock(mutex_);
                   auto beat = figures(counters());
                   add_activity(activity_, beat);
                   unreadable_.tell(*beat.mutable_unreadable_tests());
                   return beat;
                 },
                 [this](const CommError&) { loop_.stop(); }}) {}

  void run() {
    const SignalWatcher signals({SIGTERM}, [this](int) {
      interrupted_ = true;
      member_.interrupt();
      loop_.stop();
    });
    activity_.adopt();
    try {
      for (ChiefWord word = member_.next(); word.type != wire::GOODBYE; word = member_.next()) {
        if (word.type == wire::BEGIN) begin_if_there(word);
        if (word.type == wire::EVALUATE) evaluate_if_kept(word);
      }
      member_.leave();
    } catch (const ServerLost& error) {
      if (interrupted_) leave_as_asked();
      member_.leave_without(error);
      throw;
    } catch (const std::exception&) {
      if (interrupted_) leave_as_asked();
      if (const auto gone = member_.lost()) throw CommError(*gone);
      const Error error = current_error();
      if (error.code() == ExitCode::kData) member_.tell(stop_word(error));  // not fit for use
      member_.leave(error);
      throw;
    }
  }

 private:
  // Whatever it was doing has failed, because of that.
  [[noreturn]] void leave_as_asked() {
    const Interrupted interrupted("interrupted");
    member_.leave(interrupted);
    throw Interrupted(interrupted);
  }

  // On the member's thread: whoever keeps the versions of a ring may stand still, and never answer.
  // Another has taken its place, or nothing more is asked of anybody.
  void heard(wire::Type type) {
    if (!in_ring() || (type != wire::BEGIN && type != wire::GOODBYE)) return;
    ++keepers_told_;
    loop_.post([] {});
  }
  bool in_ring() const { return role_.config.exchange == ExchangeKind::kAllReduce; }

  void begin_if_there(const ChiefWord& word) {
    ++keepers_;
    try {
      begin(word);
    } catch (const ServerLost& error) {
      if (!in_ring()) throw;
      activity_.begin(Activity::Kind::kIdle, "");
      spdlog::warn("{}", error.what());
      const std::lock_guard lock(mutex_);
      reader_.reset();
    }
  }

  void begin(const ChiefWord& word) {
    const auto begin = parsed<wire::Begin>(word.meta);
    PsAddress address =
        ps_address(role_, "evaluator", {begin.servers().begin(), begin.servers().end()},
                   member_.incarnation());
    if (in_ring()) address.replaced = [this, n = keepers_] { return keepers_told_ > n; };
    std::unique_ptr<PsReader> reader;
    std::unique_ptr<RowReader> row_reader;
    activity_.at(Activity::kNoNumber);
    activity_.begin(Activity::Kind::kWaiting, "waiting for the servers to accept its connection");
    if (by_rows_) {
      row_reader =
          std::make_unique<RowReader>(loop_, deal_rows(workload_), address, role_.config.deadline);
    } else {
      reader = std::make_unique<PsReader>(loop_, workload_.chunks, address, role_.config.deadline);
    }
    activity_.begin(Activity::Kind::kIdle, "");
    const std::lock_guard lock(mutex_);
    reader_ = std::move(reader);
    row_reader_ = std::move(row_reader);
  }

  LinkCounters counters() const {
    if (row_reader_) return row_reader_->counters();
    return reader_ ? reader_->counters() : LinkCounters();
  }

  // In a ring another worker may take the place of who kept the version; then the chief says so.
  void evaluate_if_kept(const ChiefWord& word) {
    if (in_ring() && !reader_) return;
    try {
      evaluate(word);
    } catch (const ServerLost& error) {
      if (!in_ring()) throw;
      activity_.begin(Activity::Kind::kIdle, "");
      spdlog::warn("{}", error.what());
    }
  }

  void evaluate(const ChiefWord& word) {
    const auto request = parsed<wire::Evaluate>(word.meta);
    if (!reader_ && !row_reader_) {
      throw CommError("{} was asked to test before it was told to begin", role_.name);
    }
    activity_.at(request.version());
    const Metrics tested = by_rows_ ? test_rows(request.version()) : test(request.version());
    activity_.begin(Activity::Kind::kIdle, "");
    spdlog::info("epoch {}: {} {:.4f}, loss {:.4f}", request.epoch() + 1,
                 tested.rmse ? "rmse" : "accuracy", tested.rmse ? *tested.rmse : *tested.accuracy,
                 tested.loss.mean());
    member_.tell(wire::EVALUATED, evaluated_of(request.version(), request.epoch(), tested));
  }

  Metrics test(std::uint64_t version) {
    activity_.begin(Activity::Kind::kWaiting, "waiting for the servers to send version");
    reader_->read(version, values_.as_floats());
    activity_.begin(Activity::Kind::kBusy, "testing version");
    return test_model(role_.config.model, *workload_.model, *tests_, values_.as_floats(),
                      &activity_);
  }

  // The servers score the rows, a few at a time, so that training goes on between them.
  Metrics test_rows(std::uint64_t version) {
    constexpr std::uint64_t kRows = 8192;
    activity_.begin(Activity::Kind::kWaiting,
                    "waiting for the servers to score the tests of version");
    std::vector<float> scores(test_rows_->info().rows);
    for (std::uint64_t begin = 0; begin < scores.size(); begin += kRows) {
      const Range some{begin, std::min<std::uint64_t>(begin + kRows, scores.size())};
      row_reader_->score(version, some, std::span(scores).subspan(some.begin, some.size()));
      activity_.count();
    }
    activity_.begin(Activity::Kind::kBusy, "computing the metrics of version");
    return test_scores(kind_of(role_.config.model), scores, labels_of(*test_rows_));
  }

  RoleContext role_;
  Workload workload_;
  std::unique_ptr<Dataset> tests_;
  UnreadableFiles unreadable_{*tests_};
  bool by_rows_;
  std::shared_ptr<const RowCache> test_rows_;  // opened once: the files may go meanwhile
  Buffer values_;
  Activity activity_{"testing"};
  Loop loop_;
  std::atomic<bool> interrupted_ = false;
  std::uint64_t keepers_ = 0;                    // of a ring: this role has connected to
  std::atomic<std::uint64_t> keepers_told_ = 0;  // the chief has named, and one more at the end
  std::mutex mutex_;                             // guards the two below against the member's thread
  std::unique_ptr<PsReader> reader_;
  std::unique_ptr<RowReader> row_reader_;
  Member member_;
};

}  // namespace

void run_evaluator(const RoleContext& role) {
  block_signals({SIGTERM});
  EvaluatorRole(role).run();
}

}  // namespace paceline
