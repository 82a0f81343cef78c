#include <csignal>

#include "base/error.h"
#include "base/log.h"
#include "base/signals.h"
#include "data/open.h"
#include "exchange/parsed.h"
#include "exchange/ps/reader.h"
#include "train/loop.h"
#include "train/member.h"
#include "train/parts.h"
#include "train/role.h"

namespace paceline {
namespace {

class EvaluatorRole {
 public:
  explicit EvaluatorRole(const RoleContext& role)
      : role_(role),
        parts_(make_parts(role.config)),
        tests_(open_dataset(role.config.data, Split::kTest)),
        values_(Buffer::floats(parts_.chunks.floats())),
        loop_(Duration::zero()),
        member_(
            role, "evaluator", [](wire::Type, std::string_view) { return false; },
            [this] {
              const std::lock_guard lock(mutex_);
              auto beat = figures(reader_ ? reader_->counters() : LinkCounters());
              unreadable_.tell(*beat.mutable_unreadable_tests());
              return beat;
            },
            [this](const std::string&) { loop_.stop(); }) {}

  void run() {
    const SignalWatcher signals({SIGTERM}, [this](int) { member_.interrupt(); });
    try {
      for (ChiefWord word = member_.next(); word.type != wire::GOODBYE; word = member_.next()) {
        if (word.type == wire::BEGIN) begin(word);
        if (word.type == wire::EVALUATE) evaluate(word);
      }
      member_.leave("");
    } catch (const Interrupted&) {
      throw;
    } catch (const DataError& error) {  // the test data are not fit for use
      member_.tell(stop_word(error));
      member_.leave(error.what());
      throw;
    } catch (const Error& error) {
      if (const auto reason = member_.lost()) throw CommError("{}", *reason);
      member_.leave(error.what());
      throw;
    }
  }

 private:
  void begin(const ChiefWord& word) {
    const auto begin = parsed<wire::Begin>(word.meta);
    const PsAddress address =
        ps_address(role_, "evaluator", {begin.servers().begin(), begin.servers().end()},
                   member_.incarnation());
    auto reader = std::make_unique<PsReader>(loop_, parts_.chunks, address, role_.config.deadline);
    const std::lock_guard lock(mutex_);
    reader_ = std::move(reader);
  }

  void evaluate(const ChiefWord& word) {
    const auto request = parsed<wire::Evaluate>(word.meta);
    if (!reader_) throw CommError("{} was asked to test before it was told to begin", role_.name);
    reader_->read(request.version(), values_.as_floats());
    const Loss loss = evaluate_dataset(*parts_.model, *tests_, values_.as_floats());
    wire::Evaluated evaluated;
    evaluated.set_version(request.version());
    evaluated.set_epoch(request.epoch());
    evaluated.set_loss(loss.mean());
    evaluated.set_accuracy(loss.accuracy());
    evaluated.set_examples(loss.examples);
    if (parts_.data.classes == 2) evaluated.set_f1(loss.f1());
    spdlog::info("epoch {}: accuracy {:.4f}, loss {:.4f}", request.epoch() + 1, loss.accuracy(),
                 loss.mean());
    member_.tell(wire::EVALUATED, evaluated);
  }

  RoleContext role_;
  RunParts parts_;
  std::unique_ptr<Dataset> tests_;
  UnreadableFiles unreadable_{*tests_};
  Buffer values_;
  Loop loop_;
  std::mutex mutex_;  // guards reader_ against the member's thread
  std::unique_ptr<PsReader> reader_;
  Member member_;
};

}  // namespace

void run_evaluator(const RoleContext& role) {
  block_signals({SIGTERM});
  EvaluatorRole(role).run();
}

}  // namespace paceline
