#include "config/settings.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "data/catalogue/registry.h"
#include "model/catalogue/registry.h"

namespace paceline {
namespace {

// A reference to one field of a RunConfig, as the builders want it.
#define FIELD(name) ([](auto& c) -> auto& { return c.name; })

Setting with_scope(Setting setting, SettingScope scope) {
  setting.scope = scope;
  return setting;
}

// Such as a path: on another host it may be another.
Setting own(Setting setting) {
  setting.shared = false;
  return setting;
}

Setting with_default(Setting setting, std::string text) {
  setting.default_text = std::move(text);
  return setting;
}

std::vector<Setting> data_settings() {
  return {
      text("data", FIELD(data.name), "what is learned from", dataset_names()),
      with_default(own(path("data-dir", FIELD(data.dir),
                            "where datasets are kept; idx: folder of the four files")),
                   "~/.cache/paceline"),
      integer("data-limit", FIELD(data.limit),
              "use only N training examples: the first ones, of texts a sample; 0: all"),
      integer("data-classes", FIELD(data.classes), "idx: number of labels", 2, 1U << 16),
      integer("synthetic-examples", FIELD(data.synthetic.examples), "synthetic: training examples",
              1),
      integer("synthetic-test-examples", FIELD(data.synthetic.test_examples),
              "synthetic: test examples", 1),
      integer("synthetic-width", FIELD(data.synthetic.width), "synthetic: bytes per example", 1,
              1U << 20),
      integer("synthetic-image", FIELD(data.synthetic.image),
              "synthetic: colour images of N × N pixels; 0: plain bytes", 0, 1024),
      integer("synthetic-classes", FIELD(data.synthetic.classes), "synthetic: number of labels", 2,
              1U << 16),
      integer("synthetic-seed", FIELD(data.synthetic.seed),
              "synthetic: another seed, other examples"),
      own(path(
          "data-file", FIELD(data.text.file),
          "reviews, sentences: LABEL<tab>TEXT or SENTENCE<tab>TRANSLATION; plain or .gz; reviews: "
          "or prepared, see docs/prepared.md. images: a folder with a folder per class. rows: "
          "text, "
          "plain, .gz or .zst; a folder or a pattern means many")),
      own(path("test-file", FIELD(data.text.test_file),
               "reviews, sentences, images, rows: what is tested on; none: a part of --data-file")),
      number("test-share", FIELD(data.text.test_share),
             "reviews, sentences, images, rows: the part of --data-file that is tested on",
             kFraction),
      integer("vocabulary", FIELD(data.text.vocabulary),
              "texts: most frequent words that are told apart, and four special tokens", 5,
              1U << 24),
      integer("length", FIELD(data.text.length), "texts: words that are kept, at most", 1,
              1U << 16),
      choice("cut", FIELD(data.text.cut), "texts: what is cut off when one is longer",
             {"end", "start"}),
      boolean("balanced", FIELD(data.text.balanced),
              "reviews: both labels weigh the same, however many examples they have"),
      integer("image-size", FIELD(data.images.size), "images: resized to N × N pixels", 1, 4096),
      boolean("augment", FIELD(data.images.augment),
              "images: training images are cropped and mirrored at random, anew in every epoch"),
      choice("format", FIELD(data.rows.format.format), "rows: how the text is to be read",
             {"auto", "libsvm", "criteo", "vw"}),
      choice("labels", FIELD(data.rows.format.target),
             "rows: what they say: yes or no, or a number", {"classes", "numbers"}),
      integer("bits", FIELD(data.rows.format.bits), "rows: 2^N features are told apart", 1,
              kMostBits),
      integer("max-bad", FIELD(data.rows.most_bad), "rows: lines that may be left out"),
      with_default(own(path("cache-dir", FIELD(data.rows.cache_dir),
                            "rows: where what was read of the text is kept")),
                   "DATA-DIR/rows"),
      choice("order", FIELD(order.kind), "order of the examples in an epoch",
             {"full", "blocks", "sequential"}),
      integer("order-block", FIELD(order.block), "blocks: examples per block", 1),
      integer("order-window", FIELD(order.window), "blocks: examples are mixed within N blocks", 1),
      integer("threads", FIELD(model.threads),
              "that a worker computes with; 0: its share of the cores, or 1 if deterministic", 0,
              1024),
      own(boolean("pin", FIELD(pin), "keep each worker on cores of its own")),
      integer("loader-depth", FIELD(loader.depth), "shares read ahead; 0: read when needed", 0, 64),
      integer("loader-threads", FIELD(loader.threads), "threads that read ahead", 1, 64),
  };
}

std::vector<Setting> learning_settings() {
  return {
      text("model", FIELD(model.name),
           "what is learned: " + join(model_names(), ", ") + ", or a TorchScript FILE.pt"),
      choice("device", FIELD(model.device),
             "alexnet, image-quality, FILE.pt: who computes (cuda has never been tried: no GPU was "
             "at hand)",
             {"cpu", "cuda"}),
      choice("precision", FIELD(model.precision),
             "alexnet, image-quality: factors of products of 32 or 16 bits; sums and parameters "
             "have 32",
             {"float", "bf16"}),
      choice("loss", FIELD(model.loss),
             "FILE.pt: what its answers are: scores of the classes, or the label as a number",
             {"cross-entropy", "squared-error"}),
      number("dropout", FIELD(model.dropout),
             "alexnet, sentiment: share of units left out while training", kFraction),
      integer("embedding", FIELD(model.embedding), "sentiment, translation: numbers per word", 1,
              1U << 14),
      integer("hidden", FIELD(model.hidden), "sentiment, translation: units of a recurrent layer",
              1, 1U << 14),
      choice("rnn", FIELD(model.rnn), "recurrent layers: all times at once, or step by step",
             {"fused", "step"}),
      choice("train", FIELD(model.train),
             "image-quality: what is learned; top: the last layer alone, on --init's features",
             {"all", "top"}),
      integer("seed", FIELD(seed), "of the starting values and of the order"),
      integer("batch", FIELD(batch), "examples per step, over all workers", 1),
      integer("tile", FIELD(tile), "examples per tile; 0: at most 64 tiles per step"),
      integer("epochs", FIELD(epochs), "passes over the training examples", 1),
      number("clip", FIELD(clip), "largest norm of a step's gradient; 0: no limit", kNotNegative),
      choice("nonfinite", FIELD(nonfinite),
             "what a step with an infinite or undefined gradient does", {"stop", "skip", "ignore"}),
      choice("reduction", FIELD(reduction), "how the gradients of a step's examples combine",
             {"mean", "sum"}),
      number("sum-factor", FIELD(sum_factor),
             "sum: the mean times X; 0: the workers at the start, of rows the batch", kNotNegative),
  };
}

std::vector<Setting> optimizer_settings() {
  return {
      choice("optimizer", FIELD(optimizer.kind), "update rule",
             {kOptimizerNames.begin(), kOptimizerNames.end()}),
      number("rate", FIELD(schedule.rate), "learning rate", kPositive),
      number("momentum", FIELD(optimizer.momentum), "momentum: share kept of the last update",
             kFraction),
      number("beta1", FIELD(optimizer.beta1), "adam: decay of the gradient's average", kFraction),
      number("beta2", FIELD(optimizer.beta2), "adam: decay of the square's average", kFraction),
      number("epsilon", FIELD(optimizer.epsilon), "adagrad, adam: added to the denominator",
             kPositive),
      number("decay", FIELD(optimizer.decay), "weight decay (L2, added to the gradient)",
             kNotNegative),
      number("l1", FIELD(optimizer.l1), "sgd, adagrad, ftrl: pull towards 0 (L1)", kNotNegative),
      number("beta", FIELD(optimizer.beta), "ftrl: the larger, the slower it begins", kNotNegative),
      choice("schedule", FIELD(schedule.kind), "how the rate changes over the run",
             {"constant", "step", "cosine"}),
      integer("reference-batch", FIELD(schedule.reference_batch),
              "scale the rate by batch/N; 0: do not"),
      number("warmup-epochs", FIELD(schedule.warmup_epochs), "rise linearly from 0 over X epochs",
             kNotNegative),
      number("step-epochs", FIELD(schedule.step_epochs), "step: change every X epochs", kPositive),
      number("step-factor", FIELD(schedule.step_factor), "step: multiply the rate by X", kPositive),
      number("final-rate", FIELD(schedule.final_rate), "cosine: rate at the end", kNotNegative),
  };
}

std::vector<Setting> exchange_settings() {
  return {
      choice("exchange", FIELD(exchange), "parameter servers, threads that share memory, or a ring",
             {"ps", "local", "allreduce"}),
      choice("mode", FIELD(mode), "when workers see each other's updates",
             {"sync", "async", "ssp"}),
      integer("staleness", FIELD(staleness), "ssp: steps a worker may be ahead of the slowest"),
      boolean("deterministic", FIELD(deterministic), "the same bits however the work is dealt out"),
      integer("workers", FIELD(workers), "processes or threads that compute gradients", 1, 1024),
      integer("servers", FIELD(servers), "processes that keep the parameters", 1, 256),
      integer("lease-block", FIELD(lease_block), "async, ssp: steps leased ahead at a time", 1),
      choice("wire", FIELD(wire), "floats on their way between processes: of 32 or of 16 bits",
             {"float", "bf16"}),
      choice("transfer", FIELD(transfer), "ps: rows of tables that a step touches, or all of them",
             {"sparse", "dense"}),
      choice("factors", FIELD(factors.choice),
             "allreduce: exchange what fully connected layers' gradients are products of",
             {"auto", "never", "always"}),
      number("link-gbit", FIELD(factors.link_gbit),
             "allreduce: Gbit/s of a worker's link; --factors auto goes by it", kPositive),
      boolean("worker-eval", FIELD(worker_eval), "async, ssp: each worker tests its own view"),
  };
}

std::vector<Setting> process_settings() {
  using namespace std::chrono_literals;
  return {
      choice("transport", FIELD(transport), "sockets between the roles", {"unix", "tcp"}),
      own(text("listen", FIELD(listen), "tcp: address the roles bind to")),
      own(text("hosts", FIELD(hosts), "tcp: emulated hosts, as ADDRESS netns=NAME cores=LIST; …")),
      own(integer("port", FIELD(port), "tcp: port of the chief; 0: any that is free", 0, 65535)),
      boolean("insecure", FIELD(insecure), "allow addresses other than loopback"),
      duration("heartbeat", FIELD(heartbeat), "how often a role says that it lives", 1ms),
      duration("member-timeout", FIELD(member_timeout), "silence after which a role is dead", 1ms),
      duration("deadline", FIELD(deadline), "a role that hangs for so long is ended", 1ms),
      duration("start-timeout", FIELD(start_timeout), "time for all roles to register", 1ms),
      duration("spin", FIELD(spin), "polling before a wait blocks; none in workers of large models",
               0ms),
      own(bytes("memory-limit", FIELD(memory_limit),
                "for all roles on this host; 0: what is free")),
  };
}

std::vector<Setting> output_settings() {
  return {
      with_scope(text("recipe", FIELD(recipe), "name of the recipe"), SettingScope::kResolved),
      with_scope(
          with_default(own(path("run-dir", FIELD(run_dir), "directory the run leaves behind")),
                       "runs/RECIPE-TIME"),
          SettingScope::kCommandLine),
      with_scope(
          with_default(own(path("resume", FIELD(resume), "run directory to go on from")), "none"),
          SettingScope::kCommandLine),
      with_default(
          own(path("init", FIELD(init), "run directory whose weights the run starts with")),
          "none"),
      integer("checkpoint-every", FIELD(checkpoint_every),
              "epochs between checkpoints; 0: only at the end"),
      integer("keep-checkpoints", FIELD(keep_checkpoints),
              "newest checkpoints to keep; older ones are deleted", 1),
      own(text("log-level", FIELD(log_level), "least important line in the logs",
               {"trace", "debug", "info", "warning", "error"})),
  };
}

#undef FIELD

std::vector<Setting> make_settings() {
  const std::pair<const char*, std::vector<Setting>> sections[] = {
      {"Data", data_settings()},           {"Learning", learning_settings()},
      {"Optimizer", optimizer_settings()}, {"Exchange", exchange_settings()},
      {"Processes", process_settings()},   {"Run directory", output_settings()},
  };
  const RunConfig defaults;
  std::vector<Setting> all;
  for (const auto& [section, rows] : sections) {
    for (Setting row : rows) {
      row.section = section;
      if (row.default_text.empty()) row.default_text = row.format(defaults);
      all.push_back(std::move(row));
    }
  }
  return all;
}

std::vector<std::string> keys_where(bool (*holds)(SettingScope)) {
  std::vector<std::string> keys;
  for (const Setting& setting : settings()) {
    if (holds(setting.scope)) keys.push_back(setting.key);
  }
  return keys;
}

}  // namespace

std::span<const Setting> settings() {
  static const std::vector<Setting> table = make_settings();
  return table;
}

const Setting* find_setting(std::string_view key) {
  const auto all = settings();
  const auto found = std::ranges::find(all, key, &Setting::key);
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string> recipe_keys() {
  return keys_where([](SettingScope scope) { return scope == SettingScope::kEverywhere; });
}

std::vector<std::string> flag_keys() {
  return keys_where([](SettingScope scope) { return scope != SettingScope::kResolved; });
}

}  // namespace paceline
