// Byte rows times a weight matrix, there and back: the inner loops of linear models.
//
// Compiled for several instruction sets, the best of which is chosen at run time. Rows are
// bytes and become floats in registers. Rows are cut into blocks of as many bytes as a
// vector has lanes; blocks that are all zero add nothing to either product and are
// skipped (in MNIST, two of three). Results depend on the instruction set and on the
// rows in their order, on nothing else.
//
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/buffer.h"

namespace paceline {

// Room for the intermediate results of up to kRowsPerPass rows.
class LinearScratch {
 public:
  static constexpr std::size_t kRowsPerPass = 256;
  // As many as have an accumulator each in 16 vector registers while a few stay free.
  static constexpr std::size_t kClassesPerTile = 12;

  LinearScratch(std::size_t width, std::size_t classes);

  std::size_t width() const { return width_; }
  std::size_t classes() const { return classes_; }

  // A value per class and row: sums, then probabilities, then errors. The rows are
  // `stride` floats apart, and what lies between them is scratch too.
  std::size_t stride() const { return stride_; }
  float* outputs(std::size_t row) { return outputs_.as_floats().data() + row * stride_; }

  // A copy of the bias that may be read, in whole vectors, beyond its end.
  float* bias() { return bias_.as_floats().data(); }

  // [blocks of a row, 64-bit words]: bit e of a block is set when row e is not zero there.
  std::uint64_t* marks() { return reinterpret_cast<std::uint64_t*>(marks_.data()); }

 private:
  std::size_t width_;
  std::size_t classes_;
  std::size_t stride_;
  Buffer outputs_;
  Buffer bias_;
  Buffer marks_;
};

// outputs[e, c] = Σ_i weight[c, i] · rows[e][i], and marks for linear_backward().
void linear_forward(std::span<const std::uint8_t* const> rows, const float* weight,
                    LinearScratch& scratch);

// The loss of a row is log(sum) + gap. It is correct when no class is more probable than
// its label, and no lower class as probable.
struct SoftmaxTerms {
  float sum = 0;  // of exp(logit − largest logit)
  float gap = 0;  // largest logit − logit of the label
  bool correct = false;
};

// outputs[e, :] = softmax(scale · outputs[e, :] + bias). A logit that is not a number
// makes its row's sum not a number. Labels are in range.
void softmax_rows(std::span<const std::int32_t> labels, float scale, const float* bias,
                  LinearScratch& scratch, std::span<SoftmaxTerms> terms);

enum class Store { kOverwrite, kAdd };

// gradient[c, i] = Σ_e outputs[e, c] · rows[e][i], for the rows of the last linear_forward().
void linear_backward(std::span<const std::uint8_t* const> rows, LinearScratch& scratch,
                     float* gradient, Store store);

}  // namespace paceline
