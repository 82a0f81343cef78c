#include "infer/trained.h"

#include <algorithm>

#include "base/plugin.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/weights.h"
#include "config/recipe.h"
#include "model/catalogue/registry.h"

namespace paceline {

Trained read_trained(const std::filesystem::path& target) {
  Trained trained;
  trained.file = find_checkpoint(target);
  trained.run_dir = trained.file.parent_path().parent_path();
  const CheckpointReader reader(trained.file);
  apply_toml(reader.info().config, trained.file.string(), TomlKind::kConfig, trained.config);
  trained.parameters.resize(reader.info().layout.size);
  reader.read(0, {0, reader.info().layout.size}, trained.parameters);
  use_threads(std::max(1U, trained.config.model.threads));
  return trained;
}

// The run is over: it leaves nothing, and finds its frozen part beside its checkpoints.
std::unique_ptr<Model> make_model(const Trained& trained, const DatasetInfo& data) {
  auto model = make_model(ModelSetup{trained.config.model, data, trained.config.seed, {}});
  load_frozen(trained.file.parent_path(), *model);
  CheckpointReader(trained.file).expect_layout(model->layout());
  return model;
}

}  // namespace paceline
