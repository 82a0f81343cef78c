// Byte rows times a weight matrix, there and back: the inner loops of linear models.
//
// Compiled for several instruction sets, the best of which is chosen at run time. Rows are
// bytes and become floats in registers. A row is cut into blocks of as many bytes as a
// vector has lanes; blocks that are all zero add nothing to either product and are skipped
// (three of five in MNIST). Results depend on the instruction set and on the rows in their
// order, on nothing else.
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

  // [groups of at most 64 blocks, kRowsPerPass]: bit b is set when the row is not zero in
  // block b of the group.
  std::uint64_t* row_marks() { return reinterpret_cast<std::uint64_t*>(row_marks_.data()); }
  // [blocks, words of 64 rows]: bit e is set when row e is not zero in the block.
  std::uint64_t* block_marks() { return reinterpret_cast<std::uint64_t*>(block_marks_.data()); }

 private:
  std::size_t width_;
  std::size_t classes_;
  std::size_t stride_;
  Buffer outputs_;
  Buffer bias_;
  Buffer row_marks_;
  Buffer block_marks_;
};

// outputs[e, c] = Σ_i weight[c, i] · rows[e][i]
void linear_forward(std::span<const std::uint8_t* const> rows, const float* weight,
                    LinearScratch& scratch);

enum class Store { kOverwrite, kAdd };

// gradient[c, i] = Σ_e outputs[e, c] · rows[e][i], for the rows of the last linear_forward().
void linear_backward(std::span<const std::uint8_t* const> rows, LinearScratch& scratch,
                     float* gradient, Store store);

}  // namespace paceline
