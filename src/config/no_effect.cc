#include "config/no_effect.h"

#include <initializer_list>

#include "base/error.h"
#include "data/catalogue/registry.h"

namespace paceline {
namespace {

// In a file settings have no dashes.
std::string without_dashes(std::string text) {
  for (std::size_t at = 0; (at = text.find("--")) != std::string::npos;) text.erase(at, 2);
  return text;
}

void refuse_unless(const NamedSettings& named, bool used, std::initializer_list<const char*> keys,
                   const char* condition) {
  if (used) return;
  for (const char* key : keys) {
    const auto found = named.find(key);
    if (found == named.end()) continue;
    const std::string& words = found->second;
    throw ConfigError("{} has no effect without {}", words,
                      words.starts_with("--") ? condition : without_dashes(condition));
  }
}

// Threads that learn row by row take a row after the other, with no step whose gradients would be
// added up, no shares and nothing that is read ahead.
void check_row_by_row(const RunConfig& c, const NamedSettings& named) {
  if (!trains_rows(c) || c.mode == Mode::kSync) return;
  for (const char* key : {"tile", "loader-depth", "loader-threads", "reduction", "sum-factor"}) {
    const auto found = named.find(key);
    if (found == named.end()) continue;
    const std::string& words = found->second;
    const bool is_flag = words.starts_with("--");
    // A recipe says how gradients combine for runs in other modes, too.
    if (!is_flag && (found->first == "reduction" || found->first == "sum-factor")) continue;
    throw ConfigError(
        "{} has no effect when threads learn sparse rows one by one: leave it out, or choose {}",
        words, is_flag ? "--mode sync" : "mode sync");
  }
}

}  // namespace

void check_effects(const RunConfig& c, const NamedSettings& named) {
  if (!c.resume.empty() && named.contains("init")) {
    throw ConfigError("--init has no effect with --resume: the run goes on with its own weights");
  }
  const auto optimizer = c.optimizer.kind;
  const auto schedule = c.schedule.kind;
  const bool is_convolutional = c.model.name == "alexnet" || c.model.name == "image-quality";
  refuse_unless(named, c.mode == Mode::kSsp, {"staleness"}, "--mode ssp");
  refuse_unless(named, c.mode != Mode::kSync, {"lease-block", "worker-eval"},
                "--mode async or --mode ssp");
  refuse_unless(named, c.exchange != ExchangeKind::kLocal,
                {"transport", "listen", "port", "wire", "heartbeat", "member-timeout", "deadline",
                 "start-timeout"},
                "--exchange ps or --exchange allreduce");
  refuse_unless(named, c.exchange == ExchangeKind::kPs, {"servers", "lease-block", "worker-eval"},
                "--exchange ps");
  refuse_unless(named, !trains_rows(c), {"spin"}, "--exchange ps or --transfer dense");
  refuse_unless(named, !exchanges_rows(c), {"worker-eval"}, "--transfer dense");
  check_row_by_row(c, named);
  refuse_unless(named, c.exchange == ExchangeKind::kPs || is_rows(c.data), {"transfer"},
                "--exchange ps or --data rows");
  refuse_unless(named, c.exchange == ExchangeKind::kAllReduce, {"factors", "link-gbit"},
                "--exchange allreduce");
  refuse_unless(named, c.transport == Transport::kTcp, {"listen", "hosts", "port", "insecure"},
                "--transport tcp");
  refuse_unless(named, c.reduction == Reduction::kSum, {"sum-factor"}, "--reduction sum");
  refuse_unless(named, c.order.kind == OrderKind::kBlocks, {"order-block", "order-window"},
                "--order blocks");
  refuse_unless(named, c.loader.depth > 0, {"loader-threads"}, "--loader-depth");
  refuse_unless(named, optimizer == OptimizerKind::kMomentum, {"momentum"}, "--optimizer momentum");
  refuse_unless(named, optimizer == OptimizerKind::kAdam, {"beta1", "beta2"}, "--optimizer adam");
  refuse_unless(named, optimizer == OptimizerKind::kAdam || optimizer == OptimizerKind::kAdagrad,
                {"epsilon"}, "--optimizer adagrad or --optimizer adam");
  refuse_unless(named, optimizer == OptimizerKind::kFtrl, {"beta"}, "--optimizer ftrl");
  refuse_unless(named,
                optimizer == OptimizerKind::kSgd || optimizer == OptimizerKind::kAdagrad ||
                    optimizer == OptimizerKind::kFtrl,
                {"l1"}, "--optimizer sgd, --optimizer adagrad or --optimizer ftrl");
  refuse_unless(named, schedule == ScheduleKind::kStep, {"step-epochs", "step-factor"},
                "--schedule step");
  refuse_unless(named, schedule == ScheduleKind::kCosine, {"final-rate"}, "--schedule cosine");
  const Origin origin = dataset_kind(c.data.name).origin;
  refuse_unless(named, origin == Origin::kOwnFolder, {"data-classes"}, "--data idx");
  refuse_unless(named, origin == Origin::kOwnFiles, {"data-file", "test-file", "test-share"},
                "--data images, --data reviews, --data rows or --data sentences");
  refuse_unless(named, is_rows(c.data), {"format", "labels", "bits", "max-bad", "cache-dir"},
                "--data rows");
  refuse_unless(named, is_image_folder(c.data), {"image-size", "augment"}, "--data images");
  refuse_unless(named, is_text(c.data), {"vocabulary", "length", "cut", "balanced"},
                "--data imdb, --data reviews or --data sentences");
  const bool linear =
      c.model.name == "softmax" || c.model.name == "logistic" || c.model.name == "regression";
  refuse_unless(named, !linear, {"threads"}, "a model on libtorch, such as --model alexnet");
  refuse_unless(named, is_convolutional || c.model.name.ends_with(".pt"), {"device"},
                "--model alexnet, --model image-quality or --model FILE.pt");
  refuse_unless(named, c.model.name.ends_with(".pt"), {"loss"}, "--model FILE.pt");
  refuse_unless(named, is_convolutional, {"precision"}, "--model alexnet or --model image-quality");
  refuse_unless(named, c.model.name == "sentiment" || c.model.name == "translation",
                {"embedding", "hidden", "rnn"}, "--model sentiment or --model translation");
  refuse_unless(named, c.model.name == "image-quality", {"train"}, "--model image-quality");
  refuse_unless(named, c.model.name == "sentiment" || c.model.name == "alexnet", {"dropout"},
                "--model sentiment or --model alexnet");
  refuse_unless(named, origin == Origin::kMadeUp,
                {"synthetic-examples", "synthetic-test-examples", "synthetic-width",
                 "synthetic-image", "synthetic-classes", "synthetic-seed"},
                "--data synthetic");
}

}  // namespace paceline
