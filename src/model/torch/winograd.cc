#include "model/torch/winograd.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"
#include "model/torch/winograd_kernels.h"

namespace paceline {
namespace {

constexpr std::int64_t kTile = 6;
// Fewer make narrow products; more do not stay in the cache between their maps and their use.
constexpr std::int64_t kTilesAtOnce = 256;

torch::Tensor channels_last(const torch::Tensor& tensor) {
  return tensor.contiguous(torch::MemoryFormat::ChannelsLast);
}

torch::Tensor empty_images(at::IntArrayRef shape) {
  return torch::empty(shape, torch::TensorOptions(), torch::MemoryFormat::ChannelsLast);
}

// Of images [examples, channels, height, width] in channels-last memory.
struct Images {
  explicit Images(const torch::Tensor& tensor)
      : data(tensor.data_ptr<float>()),
        channels(tensor.size(1)),
        height(tensor.size(2)),
        width(tensor.size(3)) {
    PACELINE_CHECK(tensor.is_contiguous(torch::MemoryFormat::ChannelsLast));
  }
  float* data;
  std::int64_t channels, height, width;
};

using Pixels = std::array<float*, kWinogradPlanes>;

// The square of pixels from (top, left) on, from a channel on; `outside` stands for those that
// there are not.
struct Square {
  std::int64_t example, top, left, side;

  void find(const Images& images, std::int64_t channel, float* outside, Pixels& pixels) const {
    float** pixel = pixels.data();
    for (std::int64_t y = top; y < top + side; ++y) {
      for (std::int64_t x = left; x < left + side; ++x) {
        const bool inside = y >= 0 && y < images.height && x >= 0 && x < images.width;
        const std::int64_t place = (example * images.height + y) * images.width + x;
        *pixel++ = inside ? images.data + place * images.channels + channel : outside;
      }
    }
  }
};

// One convolution, cut into tiles. Its rows of tiles are numbered through all images.
class Tiling {
 public:
  Tiling(const torch::Tensor& input, const torch::Tensor& weight, std::int64_t margin)
      : examples(input.size(0)),
        in(weight.size(1)),
        out(weight.size(0)),
        kernel(weight.size(2)),
        height(input.size(2) + 2 * margin + 1 - kernel),
        width(input.size(3) + 2 * margin + 1 - kernel),
        side_(kTile + 1 - kernel),
        padding_(margin),
        columns_((width + side_ - 1) / side_),
        rows_((height + side_ - 1) / side_) {
    PACELINE_CHECK(height > 0 && width > 0);
  }

  const std::int64_t examples, in, out, kernel;
  const std::int64_t height, width;  // of the result

  std::int64_t rows() const { return examples * rows_; }
  std::int64_t rows_at_once() const { return std::max<std::int64_t>(1, kTilesAtOnce / columns_); }
  std::int64_t tiles(std::int64_t of_rows) const { return of_rows * columns_; }
  WinogradMap kernel_map() const {
    return kernel == 3 ? WinogradMap::kKernel3 : WinogradMap::kKernel5;
  }

  // Between rows of tiles, from `row` on, and their planes [36, tiles, channels].
  void map_inputs(const Images& images, std::int64_t row, torch::Tensor& planes) const {
    map(WinogradMap::kInput, images, row, planes);
  }
  void map_errors(const Images& images, std::int64_t row, torch::Tensor& planes) const {
    map(output_map(), images, row, planes);
  }
  void add_results(const torch::Tensor& planes, std::int64_t row, const Images& images) const {
    add(output_map(), planes, row, images);
  }
  void add_input_gradients(const torch::Tensor& planes, std::int64_t row,
                           const Images& images) const {
    add(WinogradMap::kInput, planes, row, images);
  }

 private:
  WinogradMap output_map() const {
    return kernel == 3 ? WinogradMap::kOutput4 : WinogradMap::kOutput2;
  }

  void map(WinogradMap map, const Images& images, std::int64_t row, torch::Tensor& planes) const {
    float* data = planes.data_ptr<float>();
    const auto stride = static_cast<std::size_t>(planes.stride(0));
    for_tiles(map, images, row, planes.size(1),
              [=](const Pixels& pixels, std::int64_t offset, std::size_t channels) {
                winograd_map(map, pixels.data(), channels, {data + offset, stride});
              });
  }

  void add(WinogradMap map, const torch::Tensor& planes, std::int64_t row,
           const Images& images) const {
    const float* data = planes.data_ptr<float>();
    const auto stride = static_cast<std::size_t>(planes.stride(0));
    for_tiles(map, images, row, planes.size(1),
              [=](const Pixels& pixels, std::int64_t offset, std::size_t channels) {
                winograd_adjoint(map, {data + offset, stride}, channels, pixels.data());
              });
  }

  // Tiles overlap, channels do not: each thread has some of these.
  template <typename Work>
  void for_tiles(WinogradMap map, const Images& images, std::int64_t row, std::int64_t count,
                 const Work& work) const {
    constexpr std::int64_t kLeastChannels = 16;
    at::parallel_for(0, images.channels, kLeastChannels, [&](std::int64_t begin, std::int64_t end) {
      std::vector<float> outside(static_cast<std::size_t>(end - begin));
      Pixels pixels;
      for (std::int64_t tile = 0; tile < count; ++tile) {
        square(map, row, tile).find(images, begin, outside.data(), pixels);
        work(pixels, tile * images.channels + begin, outside.size());
      }
    });
  }

  Square square(WinogradMap map, std::int64_t row, std::int64_t tile) const {
    const bool input = map == WinogradMap::kInput;
    const std::int64_t margin = input ? padding_ : 0;
    row += tile / columns_;
    return {row / rows_, row % rows_ * side_ - margin, tile % columns_ * side_ - margin,
            input ? kTile : side_};
  }

  const std::int64_t side_;  // of a tile's results
  const std::int64_t padding_;
  const std::int64_t columns_, rows_;  // tiles of one image
};

torch::Tensor empty_planes(std::int64_t rows, std::int64_t columns) {
  return torch::empty({static_cast<std::int64_t>(kWinogradPlanes), rows, columns});
}

// Weights [out, in, kernel, kernel] and their planes [36, out, in]: a tile per `out`.
torch::Tensor map_kernels(const torch::Tensor& weight, const Tiling& tiling) {
  const torch::Tensor plain = channels_last(weight);
  const Images kernels(plain);
  torch::Tensor planes = empty_planes(tiling.out, tiling.in);
  at::parallel_for(0, tiling.out, 1, [&](std::int64_t begin, std::int64_t end) {
    Pixels pixels;
    for (std::int64_t out = begin; out < end; ++out) {
      Square{out, 0, 0, tiling.kernel}.find(kernels, 0, nullptr, pixels);
      winograd_map(
          tiling.kernel_map(), pixels.data(), static_cast<std::size_t>(tiling.in),
          {planes.data_ptr<float>() + out * tiling.in, static_cast<std::size_t>(planes.stride(0))});
    }
  });
  return planes;
}

torch::Tensor kernel_gradients(const torch::Tensor& planes, const Tiling& tiling) {
  torch::Tensor gradient =
      empty_images({tiling.out, tiling.in, tiling.kernel, tiling.kernel}).zero_();
  const Images kernels(gradient);
  at::parallel_for(0, tiling.out, 1, [&](std::int64_t begin, std::int64_t end) {
    Pixels pixels;
    for (std::int64_t out = begin; out < end; ++out) {
      Square{out, 0, 0, tiling.kernel}.find(kernels, 0, nullptr, pixels);
      winograd_adjoint(
          tiling.kernel_map(),
          {planes.data_ptr<float>() + out * tiling.in, static_cast<std::size_t>(planes.stride(0))},
          static_cast<std::size_t>(tiling.in), pixels.data());
    }
  });
  return gradient;
}

// Calls work(row, tiles) for some rows of tiles after others, so that what is between the maps
// stays small.
template <typename Work>
void in_turn(const Tiling& tiling, const Work& work) {
  const std::int64_t most = tiling.rows_at_once();
  for (std::int64_t row = 0; row < tiling.rows(); row += most) {
    work(row, tiling.tiles(std::min(most, tiling.rows() - row)));
  }
}

}  // namespace

bool suits_winograd(const torch::Tensor& input, std::int64_t out, std::int64_t kernel,
                    std::int64_t stride) {
  constexpr std::int64_t kLeastChannels = 32;
  constexpr std::int64_t kLeastProducts = 50'000'000;  // of the plain sum: about 1 ms
  return (kernel == 3 || kernel == 5) && stride == 1 && input.size(1) >= kLeastChannels &&
         out >= kLeastChannels && input.numel() * out * kernel * kernel >= kLeastProducts;
}

torch::Tensor winograd(const torch::Tensor& input, const torch::Tensor& weight,
                       const torch::Tensor& bias, std::int64_t padding) {
  const Tiling tiling(input, weight, padding);
  const torch::Tensor plain = channels_last(input);
  const torch::Tensor kernels = map_kernels(weight, tiling).transpose(1, 2);
  torch::Tensor output = empty_images({tiling.examples, tiling.out, tiling.height, tiling.width});
  output.copy_(bias.view({1, -1, 1, 1}));
  const std::int64_t most = tiling.tiles(std::min(tiling.rows_at_once(), tiling.rows()));
  const torch::Tensor all_inputs = empty_planes(most, tiling.in);
  const torch::Tensor all_results = empty_planes(most, tiling.out);
  in_turn(tiling, [&](std::int64_t row, std::int64_t tiles) {
    torch::Tensor inputs = all_inputs.narrow(1, 0, tiles);
    torch::Tensor results = all_results.narrow(1, 0, tiles);
    tiling.map_inputs(Images(plain), row, inputs);
    at::bmm_out(results, inputs, kernels);
    tiling.add_results(results, row, Images(output));
  });
  return output;
}

WinogradGradients winograd_backward(const torch::Tensor& error, const torch::Tensor& input,
                                    const torch::Tensor& weight, std::int64_t padding,
                                    bool input_wanted) {
  const Tiling tiling(input, weight, padding);
  const torch::Tensor plain = channels_last(input);
  const torch::Tensor plain_error = channels_last(error);
  const torch::Tensor kernels = input_wanted ? map_kernels(weight, tiling) : torch::Tensor();
  torch::Tensor kernel_planes = empty_planes(tiling.out, tiling.in).zero_();
  WinogradGradients gradients;
  if (input_wanted) gradients.input = torch::zeros_like(plain);
  const std::int64_t most = tiling.tiles(std::min(tiling.rows_at_once(), tiling.rows()));
  const torch::Tensor all_inputs = empty_planes(most, tiling.in);
  const torch::Tensor all_errors = empty_planes(most, tiling.out);
  in_turn(tiling, [&](std::int64_t row, std::int64_t tiles) {
    torch::Tensor inputs = all_inputs.narrow(1, 0, tiles);
    torch::Tensor errors = all_errors.narrow(1, 0, tiles);
    tiling.map_inputs(Images(plain), row, inputs);
    tiling.map_errors(Images(plain_error), row, errors);
    kernel_planes.baddbmm_(errors.transpose(1, 2), inputs);
    if (!input_wanted) return;
    at::bmm_out(inputs, errors, kernels);  // their gradients, in their place
    tiling.add_input_gradients(inputs, row, Images(gradients.input));
  });
  gradients.weight = kernel_gradients(kernel_planes, tiling);
  return gradients;
}

}  // namespace paceline
