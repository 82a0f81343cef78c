#include "infer/export.h"

#include <fmt/format.h>

#include "base/file/file.h"
#include "checkpoint/weights.h"
#include "data/catalogue/registry.h"
#include "infer/trained.h"
#include "model/catalogue/registry.h"

namespace paceline {
namespace {

// The weights that are not zero, a line each.
void dump_weights(const Trained& trained, const std::filesystem::path& output) {
  AtomicFile file(output);
  std::string text = "key\tweight\n";
  const std::uint64_t constant = trained.parameters.size() - 1;
  for (std::uint64_t key = 0; key < trained.parameters.size(); ++key) {
    if (trained.parameters[key] == 0) continue;
    text += key == constant ? "constant" : std::to_string(key);
    text += fmt::format("\t{:.9g}\n", trained.parameters[key]);
    if (text.size() < (std::size_t{1} << 20)) continue;
    file.write(std::string_view(text));
    text.clear();
  }
  file.write(std::string_view(text));
  file.commit();
}

}  // namespace

void export_trained(const std::filesystem::path& target, const std::filesystem::path& output) {
  const Trained trained = read_trained(target);
  if (is_rows(trained.config.data)) return dump_weights(trained, output);
  if (trained.config.model.train == TrainedPart::kTop) expect_start(trained.file.parent_path());
  const Weights weights = read_weights(trained.file);
  export_weights(weights.layout, weights.values, output);
}

}  // namespace paceline
