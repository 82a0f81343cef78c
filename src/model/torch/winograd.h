// Convolutions with small kernels by Winograd's method (Lavin and Gray, 2015): tiles of the image
// and the kernels are mapped to 36 planes, in which a convolution is a product of matrices.
// Per result of a 3 × 3 kernel that is 36/16 multiplications instead of 9, of a 5 × 5 kernel 36/4
// instead of 25, and products of large matrices are what a processor does best.
//
// Rounding errors are larger than those of the sum of products, around 1e-5 of the largest result.
// Gradients are computed by the adjoints of the same maps.
#pragma once

#include <torch/torch.h>

#include <cstdint>

namespace paceline {

// Whether it is both possible and faster than libtorch's own: mapping the kernels costs the same
// for one image as for many.
bool suits_winograd(const torch::Tensor& input, std::int64_t out, std::int64_t kernel,
                    std::int64_t stride);

// As conv2d(), on the CPU, with a stride of 1. Images are channels-last.
torch::Tensor winograd(const torch::Tensor& input, const torch::Tensor& weight,
                       const torch::Tensor& bias, std::int64_t padding);

struct WinogradGradients {
  torch::Tensor input;  // undefined unless wanted
  torch::Tensor weight;
};
WinogradGradients winograd_backward(const torch::Tensor& error, const torch::Tensor& input,
                                    const torch::Tensor& weight, std::int64_t padding,
                                    bool input_wanted);

}  // namespace paceline
