#include "model/torch/device.h"

#include "base/error.h"

namespace paceline {

std::optional<torch::Device> other_device(const ModelOptions& options) {
  if (options.device == DeviceKind::kCpu) return std::nullopt;
  if (!torch::cuda::is_available()) {
    throw ConfigError(
        "--device cuda: libtorch finds no GPU, or was built without CUDA, as Debian's is; leave "
        "--device at cpu");
  }
  return torch::Device(torch::kCUDA);
}

}  // namespace paceline
