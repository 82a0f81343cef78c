#include "infer/evaluate.h"

#include "base/error.h"
#include "config/environment.h"
#include "data/catalogue/open.h"
#include "data/fetch.h"
#include "data/known_sets.h"
#include "infer/test.h"
#include "infer/trained.h"

namespace paceline {
namespace {

// The data of the run, unless others are named.
DataOptions tested_data(const EvaluateOptions& options, const Trained& trained) {
  DataOptions data = trained.config.data;
  if (!options.data.empty()) data.name = options.data;
  if (!options.data_dir.empty()) data.dir = options.data_dir;
  if (options.test_file.empty()) return data;
  if (!is_rows(data)) {
    throw ConfigError("--test-file is for runs on sparse rows, and {} is tested on {}: use --data",
                      options.target.string(), data.name);
  }
  data.text.test_file = options.test_file;
  return data;
}

}  // namespace

Evaluation evaluate(const EvaluateOptions& options) {
  const Trained trained = read_trained(options.target);
  const DataOptions data = tested_data(options, trained);
  if (is_known_set(data.name)) {
    require_data_dir(data.dir);
    if (const auto folder = data.dir / data.name; is_complete(known_set(data.name), folder)) {
      verify_files(known_set(data.name), folder);
    }
  }
  const auto dataset = open_dataset(data, Split::kTest, trained.run_dir);
  const auto model = make_model(trained, dataset->info());
  Evaluation evaluation{trained.file.string(), dataset->info().name,
                        test_model(trained.config.model, *model, *dataset, trained.parameters)};
  if (!options.test_file.empty()) {
    evaluation.data = options.test_file.string();
    evaluation.bad_lines = open_rows(data, Split::kTest)->info().bad_lines;
  }
  return evaluation;
}

}  // namespace paceline
