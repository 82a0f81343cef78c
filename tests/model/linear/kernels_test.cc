#include "model/linear/kernels.h"

#include <gtest/gtest.h>

#include <cmath>

#include "model/byte_batch.h"
#include "model/targets.h"

namespace paceline {
namespace {

struct KernelShape {
  std::size_t width, classes, rows;
};

// Below, at and above the sizes of blocks, vectors, tiles and words of marks.
const KernelShape kKernelShapes[] = {{1, 1, 1},     {3, 2, 2},     {8, 10, 1},   {17, 3, 5},
                                     {31, 12, 64},  {64, 13, 7},   {100, 24, 3}, {513, 9, 65},
                                     {784, 10, 10}, {785, 25, 130}};

// |weight|·|x| summed, to which the rounding errors of a sum are relative.
struct Sum {
  double value = 0;
  double magnitude = 0;
  void add(double a, double b) {
    value += a * b;
    magnitude += std::abs(a * b);
  }
  double tolerance() const { return 2e-6 * magnitude; }
};

Batch kernel_batch(const KernelShape& shape, double zeros) {
  return byte_batch({.size = shape.rows,
                     .width = shape.width,
                     .classes = static_cast<std::int32_t>(shape.classes),
                     .zeros = zeros});
}

void expect_forward(const KernelShape& shape, double zeros) {
  const Batch batch = kernel_batch(shape, zeros);
  const std::vector<float> weight = random_floats(shape.width * shape.classes, 1, 2);
  LinearScratch scratch(shape.width, shape.classes);
  linear_forward(batch.rows, weight.data(), scratch);
  for (std::size_t e = 0; e < shape.rows; ++e) {
    for (std::size_t c = 0; c < shape.classes; ++c) {
      Sum sum;
      for (std::size_t i = 0; i < shape.width; ++i) {
        sum.add(weight[c * shape.width + i], batch.rows[e][i]);
      }
      ASSERT_NEAR(scratch.outputs(e)[c], sum.value, sum.tolerance()) << "row " << e;
    }
  }
}

void expect_backward(const KernelShape& shape, double zeros, Store store) {
  const Batch batch = kernel_batch(shape, zeros);
  const std::vector<float> weight(shape.width * shape.classes);
  const std::vector<float> before = random_floats(weight.size(), 1, 3);
  const std::vector<float> errors = random_floats(shape.rows * shape.classes, 1, 4);
  std::vector<float> gradient = before;
  LinearScratch scratch(shape.width, shape.classes);
  linear_forward(batch.rows, weight.data(), scratch);
  for (std::size_t e = 0; e < shape.rows; ++e) {
    std::copy_n(&errors[e * shape.classes], shape.classes, scratch.outputs(e));
  }
  linear_backward(batch.rows, scratch, gradient.data(), store);
  for (std::size_t at = 0; at < gradient.size(); ++at) {
    Sum sum;
    if (store == Store::kAdd) sum.add(before[at], 1);
    for (std::size_t e = 0; e < shape.rows; ++e) {
      sum.add(errors[e * shape.classes + at / shape.width], batch.rows[e][at % shape.width]);
    }
    ASSERT_NEAR(gradient[at], sum.value, sum.tolerance()) << "float " << at;
  }
}

TEST(LinearForward, IsTheProductOfRowsAndWeightsOnEveryInstructionSet) {
  for_each_target([](const char* target) {
    for (const KernelShape& shape : kKernelShapes) {
      for (const double zeros : {0.0, 0.6, 1.0}) {
        SCOPED_TRACE(testing::Message()
                     << target << " width " << shape.width << " zeros " << zeros);
        expect_forward(shape, zeros);
      }
    }
  });
}

TEST(LinearBackward, IsTheProductOfErrorsAndRowsOnEveryInstructionSet) {
  for_each_target([](const char* target) {
    for (const KernelShape& shape : kKernelShapes) {
      for (const double zeros : {0.0, 0.6, 1.0}) {
        SCOPED_TRACE(testing::Message()
                     << target << " width " << shape.width << " zeros " << zeros);
        expect_backward(shape, zeros, Store::kOverwrite);
        expect_backward(shape, zeros, Store::kAdd);
      }
    }
  });
}

// One byte in a block of zeros, at every place a block could be taken for empty.
TEST(LinearForward, SeesASingleByteAnywhere) {
  constexpr std::size_t kWidth = 533;
  std::vector<float> weight(kWidth);
  for (std::size_t i = 0; i < kWidth; ++i) weight[i] = static_cast<float>(i + 1);
  for_each_target([&](const char* target) {
    LinearScratch scratch(kWidth, 1);
    for (std::size_t i = 0; i < kWidth; ++i) {
      std::vector<std::uint8_t> row(kWidth);
      row[i] = 128;
      const std::uint8_t* rows[] = {row.data()};
      linear_forward(rows, weight.data(), scratch);
      ASSERT_EQ(scratch.outputs(0)[0], 128.0f * static_cast<float>(i + 1)) << target;
    }
  });
}

}  // namespace
}  // namespace paceline
