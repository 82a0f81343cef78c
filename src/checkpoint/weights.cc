#include "checkpoint/weights.h"

#include <algorithm>

#include "base/error.h"
#include "checkpoint/checkpoint.h"

namespace paceline {

namespace fs = std::filesystem;

fs::path start_path(const fs::path& checkpoints) {
  return checkpoints / "start.ckpt";
}

bool has_start(const fs::path& checkpoints) {
  return fs::exists(start_path(checkpoints));
}

void expect_start(const fs::path& checkpoints) {
  if (has_start(checkpoints)) return;
  throw DataError("{} is missing: it holds the frozen part of the model",
                  start_path(checkpoints).string());
}

Layout all_tensors(const Model& model) {
  Layout all = model.frozen();
  for (Tensor tensor : model.layout().tensors) {
    tensor.floats = {all.size + tensor.floats.begin, all.size + tensor.floats.end};
    all.tensors.push_back(std::move(tensor));
  }
  all.size += model.layout().size;
  return all;
}

void load_frozen(const fs::path& checkpoints, Model& model) {
  const std::uint64_t size = model.frozen().size;
  if (size == 0) return;
  expect_start(checkpoints);
  const CheckpointReader reader(start_path(checkpoints));
  reader.expect_layout(all_tensors(model));
  std::vector<float> values(size);
  reader.read(0, {0, size}, values);
  model.freeze(values);
}

Weights read_weights(const fs::path& checkpoint) {
  Weights all;
  const auto add = [&all](const CheckpointReader& reader) {
    for (Tensor tensor : reader.info().layout.tensors) {
      const auto same = [&](const Tensor& other) { return other.name == tensor.name; };
      if (std::ranges::any_of(all.layout.tensors, same)) continue;
      const Range floats = tensor.floats;
      tensor.floats = {all.layout.size, all.layout.size + floats.size()};
      all.layout.size = tensor.floats.end;
      all.values.resize(all.layout.size);
      reader.read(0, floats, std::span(all.values).last(floats.size()));
      all.layout.tensors.push_back(std::move(tensor));
    }
  };
  add(CheckpointReader(checkpoint));
  if (const auto start = start_path(checkpoint.parent_path()); fs::exists(start)) {
    add(CheckpointReader(start));
  }
  return all;
}

}  // namespace paceline
