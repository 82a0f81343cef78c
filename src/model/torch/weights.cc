#include "model/torch/weights.h"

#include <torch/script.h>
#include <torch/serialize.h>

#include "base/file/file.h"

namespace paceline {

void write_weights(const Layout& layout, std::span<const float> parameters,
                   const std::filesystem::path& file) {
  c10::Dict<std::string, torch::Tensor> weights;
  for (const Tensor& tensor : layout.tensors) {
    const std::vector<std::int64_t> shape(tensor.shape.begin(), tensor.shape.end());
    weights.insert(
        tensor.name,
        torch::from_blob(const_cast<float*>(parameters.data()) + tensor.floats.begin, shape)
            .clone());
    constexpr std::string_view kInputBias = ".bias_ih_l0";
    if (tensor.name.ends_with(kInputBias)) {
      const std::string layer = tensor.name.substr(0, tensor.name.size() - kInputBias.size());
      weights.insert(layer + ".bias_hh_l0", torch::zeros(shape));
    }
  }
  const std::vector<char> bytes = torch::pickle_save(weights);
  AtomicFile out(file);
  out.write(std::string_view(bytes.data(), bytes.size()));
  out.commit();
}

}  // namespace paceline
