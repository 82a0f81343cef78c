#include "model/torch/winograd.h"

#include <gtest/gtest.h>

#include <ostream>

namespace paceline {
namespace {

struct Shape {
  std::int64_t examples, in, out, kernel, height, width, padding;
};
void PrintTo(const Shape& s, std::ostream* out) {
  *out << s.examples << " x " << s.in << " x " << s.height << " x " << s.width << " to " << s.out
       << " by " << s.kernel << ", padding " << s.padding;
}

// libtorch's own, in doubles, is the truth.
class Winograd : public ::testing::TestWithParam<Shape> {
 protected:
  Winograd() {
    torch::manual_seed(7);
    const Shape& s = GetParam();
    input_ = torch::randn({s.examples, s.in, s.height, s.width});
    weight_ = torch::randn({s.out, s.in, s.kernel, s.kernel});
    bias_ = torch::randn({s.out});
    expected_ = at::conv2d(input_.to(torch::kDouble), weight_.to(torch::kDouble),
                           bias_.to(torch::kDouble), 1, s.padding);
    error_ = torch::randn(expected_.sizes());
  }
  static void expect_close(const torch::Tensor& found, const torch::Tensor& expected) {
    ASSERT_EQ(found.sizes(), expected.sizes());
    const double largest = expected.abs().max().item<double>();
    EXPECT_LT((found.to(torch::kDouble) - expected).abs().max().item<double>(), 1e-4 * largest);
  }
  torch::Tensor input_, weight_, bias_, error_, expected_;
};

TEST_P(Winograd, GivesTheConvolution) {
  expect_close(winograd(input_, weight_, bias_, GetParam().padding), expected_);
}

TEST_P(Winograd, GivesItsGradients) {
  const std::int64_t ones[] = {1, 1};
  const std::int64_t zeros[] = {0, 0};
  const std::int64_t padding[] = {GetParam().padding, GetParam().padding};
  const auto [input, weight, bias] = at::convolution_backward(
      error_.to(torch::kDouble), input_.to(torch::kDouble), weight_.to(torch::kDouble),
      bias_.sizes(), ones, padding, ones, false, zeros, 1, {true, true, false});
  const auto found = winograd_backward(error_, input_, weight_, GetParam().padding, true);
  expect_close(found.input, input);
  expect_close(found.weight, weight);
  const auto without = winograd_backward(error_, input_, weight_, GetParam().padding, false);
  EXPECT_FALSE(without.input.defined());
  EXPECT_TRUE(torch::equal(without.weight, found.weight));
}

// Sizes that the tiles divide and others, one tile and many, channels that fill vectors and not.
INSTANTIATE_TEST_SUITE_P(Shapes, Winograd,
                         ::testing::Values(Shape{2, 8, 16, 3, 12, 12, 1},   //
                                           Shape{3, 5, 7, 3, 13, 10, 1},    //
                                           Shape{1, 33, 3, 3, 4, 9, 0},     //
                                           Shape{2, 4, 4, 3, 1, 1, 1},      //
                                           Shape{2, 3, 5, 3, 7, 6, 2},      //
                                           Shape{40, 8, 8, 3, 13, 13, 1},   //
                                           Shape{2, 8, 16, 5, 12, 12, 2},   //
                                           Shape{3, 5, 7, 5, 13, 10, 2},    //
                                           Shape{1, 33, 3, 5, 6, 9, 0},     //
                                           Shape{2, 4, 4, 5, 1, 2, 2},      //
                                           Shape{9, 8, 8, 5, 27, 27, 2}));  //

TEST(WinogradTest, SuitsSmallKernelsOfManyChannelsAndImages) {
  const auto suits = [](at::IntArrayRef input, std::int64_t out, std::int64_t kernel,
                        std::int64_t stride) {
    return suits_winograd(torch::empty(input), out, kernel, stride);
  };
  EXPECT_TRUE(suits({32, 64, 27, 27}, 192, 5, 1));
  EXPECT_TRUE(suits({32, 256, 13, 13}, 256, 3, 1));
  EXPECT_FALSE(suits({1, 128, 4, 4}, 128, 3, 1));
  EXPECT_FALSE(suits({32, 3, 99, 99}, 64, 3, 1));
  EXPECT_FALSE(suits({32, 64, 56, 56}, 64, 3, 2));
  EXPECT_FALSE(suits({32, 64, 56, 56}, 64, 1, 1));
  EXPECT_FALSE(suits({32, 64, 56, 56}, 64, 11, 1));
}

}  // namespace
}  // namespace paceline
