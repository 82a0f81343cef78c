#include "config/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "base/file/file.h"
#include "base/paths.h"
#include "config/recipe.h"
#include "config/testing.h"

namespace paceline {
namespace {

using namespace std::chrono_literals;

// Every field as a tuple. A field added to one of these structs makes its binding fail to
// compile, so none can be forgotten here; the tests below then want a setting for it.
auto fields(const RunConfig& config) {
  const auto& [recipe, data, order, model, seed, batch, tile, epochs, optimizer, schedule, groups,
               clip, nonfinite, reduction, sum_factor, exchange, wire, transfer, factors, mode,
               staleness, deterministic, servers, workers, loader, pin, lease_block, worker_eval,
               transport, listen, hosts, port, insecure, heartbeat, member_timeout, deadline,
               start_timeout, spin, run_dir, resume, init, checkpoint_every, keep_checkpoints,
               memory_limit, log_level] = config;
  const auto& [data_name, data_dir, data_limit, data_classes, synthetic, text, images, rows] = data;
  const auto& [s_examples, s_test_examples, s_width, s_image, s_classes, s_seed] = synthetic;
  const auto& [t_file, t_test_file, t_test_share, vocabulary, length, cut, balanced, t_order] =
      text;
  const auto& [image_size, augment, image_seed] = images;
  const auto& [row_format, most_bad, cache_dir] = rows;
  const auto& [format, labels, bits] = row_format;
  const auto& [model_name, dropout, embedding, hidden, rnn, trained, precision, loss, device,
               compute_threads] = model;
  const auto& [f_choice, link_gbit] = factors;
  const auto& [order_kind, order_seed, order_block, order_window] = order;
  const auto& [o_kind, momentum, beta1, beta2, epsilon, decay, l1, beta] = optimizer;
  const auto& [sch_kind, rate, reference, warmup, step_epochs, step_factor, final_rate] = schedule;
  const auto& [depth, threads] = loader;
  std::ignore = order_seed;  // follows `seed`, see resolve.h
  std::ignore = image_seed;  // so does this, see train/workload.h
  std::ignore = t_order;     // follows `order`, see there
  return std::make_tuple(
      std::make_tuple(recipe, model_name, dropout, embedding, hidden, rnn, trained, precision, loss,
                      device, compute_threads, pin, seed, batch, tile, epochs, clip, nonfinite,
                      reduction, sum_factor, exchange, wire, transfer, f_choice, link_gbit, mode,
                      staleness, deterministic, servers, workers, lease_block, worker_eval,
                      transport, listen, hosts, port, insecure, heartbeat, member_timeout, deadline,
                      start_timeout, spin, run_dir, resume, init, checkpoint_every,
                      keep_checkpoints, memory_limit, log_level),
      std::make_tuple(data_name, data_dir, data_limit, data_classes, s_examples, s_test_examples,
                      s_width, s_image, s_classes, s_seed, t_file, t_test_file, t_test_share,
                      vocabulary, length, cut, balanced, image_size, augment, format, labels, bits,
                      most_bad, cache_dir, order_kind, order_block, order_window, depth, threads),
      std::make_tuple(o_kind, momentum, beta1, beta2, epsilon, decay, l1, beta, sch_kind, rate,
                      reference, warmup, step_epochs, step_factor, final_rate));
}

std::vector<std::tuple<std::string, double, double>> groups(const RunConfig& config) {
  std::vector<std::tuple<std::string, double, double>> all;
  for (const auto& [prefix, rate, decay] : config.groups) all.emplace_back(prefix, rate, decay);
  return all;
}

// A configuration in which no field has its default value.
RunConfig unusual() {
  RunConfig c;
  c.recipe = "a \"strange\" name\n";
  c.data.name = "synthetic";
  c.data.dir = "/tmp/some where/ü";
  c.data.limit = 1234;
  c.data.classes = 7;
  c.data.synthetic = {
      .examples = 11, .test_examples = 12, .width = 13, .image = 16, .classes = 14, .seed = 15};
  c.data.text = {.file = "/tmp/pairs.tsv",
                 .test_file = "/tmp/tests.tsv",
                 .test_share = 0.25,
                 .vocabulary = 123,
                 .length = 45,
                 .cut = TextCut::kStart,
                 .balanced = true,
                 .order = {}};
  c.data.images = {.size = 33, .augment = true};
  c.data.rows = {
      .format = {RowFormat::kVw, RowTarget::kNumber, 19}, .most_bad = 21, .cache_dir = "/tmp/rows"};
  c.order = {.kind = OrderKind::kBlocks, .seed = 0, .block = 77, .window = 3};
  c.model = {.name = "alexnet",
             .dropout = 0.25,
             .embedding = 17,
             .hidden = 18,
             .rnn = RnnKind::kStep,
             .train = TrainedPart::kTop,
             .precision = Precision::kBf16,
             .loss = LossKind::kSquaredError,
             .device = DeviceKind::kCuda,
             .threads = 3};
  c.pin = false;
  c.wire = WireFormat::kBf16;
  c.transfer = Transfer::kDense;
  c.factors = {.choice = FactorChoice::kNever, .link_gbit = 2.5};
  c.hosts = "10.0.0.2 netns=h1";
  c.seed = kLargestInteger;
  c.batch = 99;
  c.tile = 9;
  c.epochs = 3;
  c.optimizer = {.kind = OptimizerKind::kAdam,
                 .momentum = 0.1,
                 .beta1 = 0.2,
                 .beta2 = 1.0 / 3,
                 .epsilon = 1e-5,
                 .decay = 1e-4,
                 .l1 = 0.02,
                 .beta = 3};
  c.schedule = {.kind = ScheduleKind::kCosine,
                .rate = 0.3,
                .reference_batch = 256,
                .warmup_epochs = 0.5,
                .step_epochs = 2.5,
                .step_factor = 0.7,
                .final_rate = 1e-3};
  c.groups = {{"softmax.bias", 2, 0}, {"a\\b", 1.0 / 7, 3}};
  c.clip = 5;
  c.nonfinite = Nonfinite::kIgnore;
  c.reduction = Reduction::kSum;
  c.sum_factor = 2.5;
  c.exchange = ExchangeKind::kLocal;
  c.mode = Mode::kSsp;
  c.staleness = 7;
  c.deterministic = true;
  c.servers = 5;
  c.workers = 6;
  c.loader = {.depth = 4, .threads = 2};
  c.lease_block = 8;
  c.worker_eval = false;
  c.transport = Transport::kTcp;
  c.listen = "10.0.0.1";
  c.port = 4711;
  c.insecure = true;
  c.heartbeat = 123ms;
  c.member_timeout = 4567ms;
  c.deadline = 7s;
  c.start_timeout = 8s;
  c.spin = 33us;
  c.run_dir = "runs/x";
  c.resume = "runs/y";
  c.init = "runs/z";
  c.checkpoint_every = 4;
  c.keep_checkpoints = 9;
  c.memory_limit = 1'500'000'001;
  c.log_level = "debug";
  return c;
}

RunConfig read_back(const RunConfig& config) {
  RunConfig again;
  apply_toml(config_toml(config), "config.toml", TomlKind::kConfig, again);
  return again;
}

TEST(ConfigToml, GivesBackEveryField) {
  EXPECT_EQ(fields(read_back(unusual())), fields(unusual()));
  EXPECT_EQ(groups(read_back(unusual())), groups(unusual()));
}

TEST(ConfigToml, GivesBackTheDefaults) {
  EXPECT_EQ(fields(read_back(RunConfig{})), fields(RunConfig{}));
}

TEST(Settings, EachIsBoundToAFieldOfItsOwn) {
  // Copying one setting at a time from the unusual configuration to the default one must
  // change the text of that setting and of no other.
  const RunConfig source = unusual();
  for (const Setting& setting : settings()) {
    RunConfig config;
    setting.parse(config, setting.format(source));
    for (const Setting& other : settings()) {
      const bool changed = other.format(config) != other.format(RunConfig{});
      EXPECT_EQ(changed, other.key == setting.key) << setting.key << " and " << other.key;
    }
  }
}

TEST(Settings, HaveDistinctKeysAndAHelpLine) {
  std::set<std::string> keys;
  for (const Setting& setting : settings()) {
    EXPECT_TRUE(keys.insert(setting.key).second) << setting.key;
    EXPECT_FALSE(setting.help.empty()) << setting.key;
    EXPECT_FALSE(setting.help.ends_with('.')) << setting.key;
    EXPECT_FALSE(setting.section.empty()) << setting.key;
  }
}

TEST(Settings, EnumerationsAcceptEachOfTheirNames) {
  for (const Setting& setting : settings()) {
    for (const std::string& name : setting.choices) {
      RunConfig config;
      setting.parse(config, name);
      EXPECT_EQ(setting.format(config), name) << setting.key;
    }
  }
}

TEST(Settings, EnumeratorsAreListedInTheirOrder) {
  const auto set = [](const char* key, const char* value) {
    RunConfig config;
    find_setting(key)->parse(config, value);
    return config;
  };
  EXPECT_EQ(set("order", "sequential").order.kind, OrderKind::kSequential);
  EXPECT_EQ(set("nonfinite", "ignore").nonfinite, Nonfinite::kIgnore);
  EXPECT_EQ(set("reduction", "sum").reduction, Reduction::kSum);
  EXPECT_EQ(set("optimizer", "adam").optimizer.kind, OptimizerKind::kAdam);
  EXPECT_EQ(set("schedule", "cosine").schedule.kind, ScheduleKind::kCosine);
  EXPECT_EQ(set("exchange", "local").exchange, ExchangeKind::kLocal);
  EXPECT_EQ(set("mode", "async").mode, Mode::kAsync);
  EXPECT_EQ(set("mode", "ssp").mode, Mode::kSsp);
  EXPECT_EQ(set("transport", "tcp").transport, Transport::kTcp);
}

struct Refusal {
  const char* key;
  const char* value;
  const char* sentence;
};

TEST(Settings, RefuseValuesOutOfRange) {
  const Refusal refusals[] = {
      {"batch", "0", "must be at least 1, not 0"},
      {"epochs", "0", "must be at least 1, not 0"},
      {"workers", "0", "must be at least 1, not 0"},
      {"servers", "0", "must be at least 1, not 0"},
      {"workers", "1025", "must be at most 1024, not 1025"},
      {"port", "65536", "must be at most 65535, not 65536"},
      {"keep-checkpoints", "0", "must be at least 1, not 0"},
      {"synthetic-classes", "1", "must be at least 2, not 1"},
      {"rate", "0", "must be greater than 0, not 0"},
      {"rate", "-0.5", "must be greater than 0, not -0.5"},
      {"rate", "nan", "must be a finite number, not nan"},
      {"momentum", "1", "must be at least 0 and less than 1, not 1"},
      {"momentum", "-0.1", "must be at least 0 and less than 1, not -0.1"},
      {"beta2", "1.5", "must be at least 0 and less than 1, not 1.5"},
      {"epsilon", "0", "must be greater than 0, not 0"},
      {"clip", "-1", "must be 0 or more, not -1"},
      {"heartbeat", "0", "must be at least 1ms, not 0"},
      {"deadline", "soon", "'soon' is not a duration such as 250ms, 2s or 5min"},
      {"memory-limit", "lots", "'lots' is not a size such as 512M, 1.5G or 1GiB"},
      {"deterministic", "1", "must be true or false, not '1'"},
      {"data", "minst",
       "'minst' is not one of mnist, fashion-mnist, cifar10, imdb, synthetic, idx, images, "
       "reviews, sentences, rows — did "
       "you mean "
       "'mnist'?"},
  };
  for (const Refusal& refusal : refusals) {
    RunConfig config;
    EXPECT_EQ(
        message_of<ConfigError>([&] { find_setting(refusal.key)->parse(config, refusal.value); }),
        refusal.sentence)
        << refusal.key;
  }
}

TEST(SettingsMarkdown, IsWhatTheCommittedFileSays) {
  EXPECT_EQ(read_text(source_path("docs/settings.md")), settings_markdown())
      << "run: paceline settings --markdown > docs/settings.md";
}

TEST(SettingsMarkdown, NamesEverySettingThatCanBeSet) {
  const std::string text = settings_markdown();
  for (const std::string& key : flag_keys()) {
    EXPECT_THAT(text, testing::HasSubstr("| `" + key + "` |"));
  }
}

}  // namespace
}  // namespace paceline
