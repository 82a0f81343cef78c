#include "cli/actions.h"

#include <csignal>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.h"
#include "base/file/file.h"
#include "base/log.h"
#include "base/plugin.h"
#include "base/text.h"
#include "checkpoint/checkpoint.h"
#include "cli/checkpoints.h"
#include "cli/estimate.h"
#include "config/environment.h"
#include "config/recipe.h"
#include "data/cifar.h"
#include "data/fetch.h"
#include "data/idx.h"
#include "data/known_sets.h"
#include "data/sparse/text_lines.h"
#include "lab/bench.h"
#include "model/linear/sparse_linear.h"
#include "model/registry.h"
#include "train/ideal.h"
#include "train/loop.h"
#include "train/parts.h"
#include "train/role.h"
#include "train/run.h"
#include "train/start.h"
#include "train/test_result.h"

namespace paceline {
namespace {

bool is_known(const std::string& name) {
  const auto names = known_set_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Once for all roles, which then look at the sizes only.
void fetch_or_verify(const DataOptions& data, const Progress& progress) {
  if (!is_known(data.name)) return;
  const KnownSet set = known_set(data.name);
  const std::filesystem::path folder = data.dir / data.name;
  if (is_complete(set, folder)) return verify_files(set, folder);
  fetch(set, data.dir, progress);
}

void train_action(const RunConfig& wanted, Reporter& reporter) {
  RunConfig config = wanted;
  // The guess is written down: what is tested or predicted later must be of the same format.
  if (config.data.name == "rows" && config.data.rows.format.format == RowFormat::kAuto) {
    config.data.rows.format.format = format_of(config.data.text.file.string());
  }
  // Whoever reads the output may leave early, as `head` does: the run goes on.
  std::signal(SIGPIPE, SIG_IGN);
  fetch_or_verify(config.data, [&](std::string_view line) { reporter.notice(std::string(line)); });
  if (config.data.name == "rows") {
    for (const Split split : {Split::kTrain, Split::kTest}) {
      open_rows(config.data, split,
                {[&](const std::string& line) { reporter.notice(line); },
                 [&](const std::string& line) { reporter.warning(line); }});
    }
  }
  check_batch(config, estimate_dataset(config.data, Split::kTrain));
  train(config, config_toml(config), reporter);
}

nlohmann::json ideal_action(const RunConfig& config, Reporter& reporter) {
  fetch_or_verify(config.data, [&](std::string_view line) { reporter.notice(std::string(line)); });
  const Ideal ideal = measure_ideal(config);
  return {{"examples_per_step", ideal.examples_per_step},
          {"steps", ideal.steps},
          {"step_seconds", ideal.step_seconds},
          {"examples_per_second", ideal.examples_per_second}};
}

// A checkpoint with the model it was made for.
struct Loaded {
  std::filesystem::path file;
  RunConfig config;
  std::vector<float> parameters;
};

Loaded load(const std::filesystem::path& target) {
  Loaded loaded;
  loaded.file = find_checkpoint(target);
  const CheckpointReader reader(loaded.file);
  apply_toml(reader.info().config, loaded.file.string(), TomlKind::kConfig, loaded.config);
  loaded.parameters.resize(reader.info().layout.size);
  reader.read(0, {0, reader.info().layout.size}, loaded.parameters);
  use_threads(std::max(1U, loaded.config.model.threads));
  return loaded;
}

// The model of a run that is over: it leaves nothing, and finds its frozen part beside its
// checkpoints.
std::unique_ptr<Model> make_trained(const Loaded& loaded, const DatasetInfo& data) {
  auto model = make_model(ModelSetup{loaded.config.model, data, loaded.config.seed, {}});
  load_frozen(loaded.file.parent_path(), *model);
  CheckpointReader(loaded.file).expect_layout(model->layout());
  return model;
}

// The data of the run, unless others are named.
DataOptions tested_data(const EvaluateOptions& options, const Loaded& loaded) {
  DataOptions data = loaded.config.data;
  if (!options.data.empty()) data.name = options.data;
  if (!options.data_dir.empty()) data.dir = options.data_dir;
  if (options.test_file.empty()) return data;
  if (data.name != "rows") {
    throw ConfigError("--test-file is for runs on sparse rows, and {} is tested on {}: use --data",
                      options.target.string(), data.name);
  }
  data.text.test_file = options.test_file;
  return data;
}

Evaluation evaluate_action(const EvaluateOptions& options) {
  Loaded loaded = load(options.target);
  const DataOptions data = tested_data(options, loaded);
  if (is_known(data.name)) {
    require_data_dir(data.dir);
    if (const auto folder = data.dir / data.name; is_complete(known_set(data.name), folder)) {
      verify_files(known_set(data.name), folder);
    }
  }
  const auto dataset = open_dataset(data, Split::kTest, loaded.file.parent_path().parent_path());
  const auto model = make_trained(loaded, dataset->info());
  const TestResult result = test_model(loaded.config.model, *model, *dataset, loaded.parameters);
  Evaluation evaluation{loaded.file.string(), dataset->info().name, result.loss.examples,
                        result.loss.mean(),   result.accuracy,      result.auc,
                        result.rmse};
  if (!options.test_file.empty()) {
    evaluation.data = options.test_file.string();
    evaluation.bad_lines = open_rows(data, Split::kTest)->info().bad_lines;
  }
  return evaluation;
}

// What is to be labelled: a line of text each, or images.
std::unique_ptr<Dataset> open_input(const Loaded& loaded, const std::filesystem::path& input) {
  const DataOptions& data = loaded.config.data;
  if (data.name == "images") return open_image_files(input, data.images);
  if (data.name == "cifar10") return open_image_files(input, {.size = kCifarImage.width});
  if (!is_text(data)) return open_idx_images(input);
  const auto run_dir = loaded.file.parent_path().parent_path();
  return number_lines(text_kind(data), data.text, input,
                      read_vocabularies(text_kind(data), run_dir));
}

// Of classes that have names: the folders that the run learned from.
std::vector<std::string> class_names(const Loaded& loaded) {
  if (loaded.config.data.name != "images") return {};
  std::vector<std::string> names =
      split(read_text(loaded.file.parent_path().parent_path() / kClassNames), '\n');
  while (!names.empty() && names.back().empty()) names.pop_back();
  return names;
}

DatasetInfo described(const Loaded& loaded, const Dataset& input) {
  DatasetInfo info = input.info();
  const DataOptions& data = loaded.config.data;
  if (is_text(data)) return info;
  if (data.name == "images") {
    info.classes = static_cast<std::int32_t>(class_names(loaded).size());
    return info;
  }
  info.classes = data.name == "synthetic" ? data.synthetic.classes : data.classes;
  if (data.name == "synthetic") info.image = image_of(data.synthetic);
  return info;
}

std::vector<std::string> translate(Model& model, const Dataset& input, const Loaded& loaded) {
  const Vocabulary words =
      read_vocabularies(TextKind::kSentences, loaded.file.parent_path().parent_path())[1];
  std::vector<std::string> sentences;
  Batch batch;
  constexpr std::uint64_t kBatch = 100;
  for (std::uint64_t begin = 0; begin < input.info().examples; begin += kBatch) {
    batch.examples.resize(std::min(kBatch, input.info().examples - begin));
    std::iota(batch.examples.begin(), batch.examples.end(), begin);
    input.read(batch.examples, batch);
    const auto translated =
        model.translate(batch, loaded.parameters, loaded.config.data.text.length);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      std::vector<std::string> said;
      if (!sequence_of(batch.rows[i], 0).empty()) {  // of nothing it is nothing
        for (const std::int32_t token : translated[i]) said.emplace_back(words.word(token));
      }
      sentences.push_back(join(said, " "));
    }
  }
  return sentences;
}

// The weights that are not zero, a line each.
void dump_weights(const Loaded& loaded, const std::filesystem::path& output) {
  AtomicFile file(output);
  std::string text = "key\tweight\n";
  const std::uint64_t constant = loaded.parameters.size() - 1;
  for (std::uint64_t key = 0; key < loaded.parameters.size(); ++key) {
    if (loaded.parameters[key] == 0) continue;
    text += key == constant ? "constant" : std::to_string(key);
    text += fmt::format("\t{:.9g}\n", loaded.parameters[key]);
    if (text.size() < (std::size_t{1} << 20)) continue;
    file.write(std::string_view(text));
    text.clear();
  }
  file.write(std::string_view(text));
  file.commit();
}

void export_action(const ExportOptions& options) {
  const Loaded loaded = load(options.target);
  if (loaded.config.data.name == "rows") return dump_weights(loaded, options.output);
  if (loaded.config.model.train == TrainedPart::kTop) expect_start(loaded.file.parent_path());
  const Weights weights = read_weights(loaded.file);
  export_weights(weights.layout, weights.values, options.output);
}

// Line by line, of a file that may be larger than the memory.
void predict_rows(const Loaded& loaded, const std::filesystem::path& input,
                  const Actions::EachPredictions& each) {
  const std::vector<std::filesystem::path> files = files_of(input.string());
  RowFormatOptions format = loaded.config.data.rows.format;
  if (format.format == RowFormat::kAuto) format.format = guess_format(first_line(files));
  const RowParser parser(format);
  const bool numbers = predicts_numbers(loaded.config.model);
  std::vector<std::uint64_t> lines(files.size());
  RowBuffer rows;
  for_each_piece(files, [&](const TextPiece& piece) {
    Predictions predictions;
    predictions.classes = numbers ? 0 : 2;
    for_each_line(piece.text, [&](std::string_view line) {
      ++lines[piece.file];
      rows.clear();
      if (const char* wrong = parser.parse(line, rows)) {
        // Who wants to know the label has none, perhaps.
        const char* label = format.format == RowFormat::kCriteo ? "0\t" : "0 ";
        rows.clear();
        if (parser.parse(label + std::string(line), rows) != nullptr) {
          throw DataError("{}:{}: {}", files[piece.file].string(), lines[piece.file], wrong);
        }
      }
      const float score = score_of(row_at(rows.words.data()), loaded.parameters);
      if (numbers) {
        predictions.numbers.push_back(score);
      } else {
        const float positive = probability_of(score);
        predictions.probabilities.insert(predictions.probabilities.end(), {1 - positive, positive});
      }
    });
    each(predictions);
    return true;
  });
}

void predict_action(const PredictOptions& options, const Actions::EachPredictions& each) {
  Loaded loaded = load(options.target);
  if (loaded.config.data.name == "rows") return predict_rows(loaded, options.input, each);
  const auto images = open_input(loaded, options.input);
  const DatasetInfo info = described(loaded, *images);
  const auto model = make_trained(loaded, info);
  Predictions predictions;
  if (info.text.sequences == 2) {
    predictions.sentences = translate(*model, *images, loaded);
    return each(predictions);
  }
  predictions.names = class_names(loaded);
  predictions.classes = static_cast<std::size_t>(info.classes);
  const std::uint64_t at_once = examples_at_once(info);
  Batch batch;
  std::vector<std::uint64_t> examples;
  for (std::uint64_t begin = 0; begin < info.examples; begin += at_once) {
    examples.resize(std::min(at_once, info.examples - begin));
    std::iota(examples.begin(), examples.end(), begin);
    images->read(examples, batch);
    predictions.probabilities.resize(examples.size() * predictions.classes);
    model->predict(batch, loaded.parameters, predictions.probabilities);
    each(predictions);
  }
}

void role_action(const RoleOptions& options) {
  start_logging(options.name, {}, options.run.log_level);
  RoleContext role{options.run, digest(read_text(options.config)), options.name, options.chief,
                   options.announce_fd};
  if (options.role == "chief") return run_chief(role);
  if (options.role == "server") return run_server(role);
  const bool ring = options.run.exchange == ExchangeKind::kAllReduce;
  if (options.role == "worker") return ring ? run_ring_worker(role) : run_worker(role);
  run_evaluator(role);
}

}  // namespace

Actions make_actions() {
  Actions actions;
  actions.train = train_action;
  actions.ideal = ideal_action;
  actions.estimate = estimate_run;
  actions.evaluate = evaluate_action;
  actions.predict = predict_action;
  actions.export_weights = export_action;
  actions.role = role_action;
  actions.bench = [](const BenchOptions& options, std::ostream& out) {
    run_bench({options.names, options.json, options.list, options.data_dir}, out, std::cerr);
  };
  return actions;
}

}  // namespace paceline
