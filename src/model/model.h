// Batch + parameters → loss + gradient, over flat spans.
//
// All parameters of a model are one contiguous vector of floats, its gradient another;
// tensors are named ranges of it. A model has no state of its own besides scratch memory
// and what is frozen,
// so one object serves one thread at a time, and many objects may share one parameter
// vector. Gradients are *sums* over the batch's examples, never means: whoever knows the
// step's total weight divides by it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/range.h"
#include "data/dataset.h"
#include "model/metrics.h"

namespace paceline {

struct Tensor {
  std::string name;
  std::vector<std::uint64_t> shape;
  Range floats;        // where it lies in the flat vector
  bool table = false;  // rows by key, of which a batch reads few: the others have no gradient
};

struct Layout {
  std::vector<Tensor> tensors;
  std::uint64_t size = 0;  // floats in all
};

// A weight whose gradient [out, in] is a sum over rows (of examples) of errors [out] times
// inputs [in].
struct Matrix {
  Range floats;
  std::uint64_t out = 0;
  std::uint64_t in = 0;
};
struct Factors {
  std::span<const float> errors;  // [rows, out]
  std::span<const float> inputs;  // [rows, in]
};

// What a model waits for and announces while it computes, so that parameters can arrive
// and gradients leave meanwhile.
class Flow {
 public:
  virtual ~Flow() = default;
  virtual void await(Range floats) = 0;  // returns when these parameters are current
  // These gradients are final, and their parameters will not be read again: new ones may arrive.
  virtual void ready(Range floats) = 0;
  virtual void turn() {}  // the forward pass is over, the backward pass begins

  // Whether the factors of this matrix are wanted, and not the matrix itself.
  virtual bool wants_factors(Range /*matrix*/) const { return false; }
  // In the place of ready(matrix).
  virtual void factors_ready(Range /*matrix*/, const Factors& /*factors*/) {}
};

class Model {
 public:
  virtual ~Model() = default;
  virtual const Layout& layout() const = 0;

  // Tensors that are read but not learned: they are no part of the layout, so nobody sends or
  // stores them step by step. freeze() gives them their values, once, before anything is
  // computed.
  virtual const Layout& frozen() const;
  virtual void freeze(std::span<const float> /*values*/) {}

  // Fills `parameters` with the starting values, a function of the seed alone.
  virtual void initialize(std::uint64_t seed, std::span<float> parameters) const = 0;

  // Overwrites `gradient` with the sum over the batch. Calls flow.await() before it reads
  // a range of parameters and flow.ready() when a range of the gradient is final; every
  // float is announced exactly once.
  virtual Loss gradient(const Batch& batch, std::span<const float> parameters,
                        std::span<float> gradient, Flow& flow) = 0;

  // Loss and number of correct predictions, without a gradient.
  virtual Loss evaluate(const Batch& batch, std::span<const float> parameters) = 0;

  // What may be exchanged as factors, in ascending order.
  virtual std::vector<Matrix> matrices() const { return {}; }
  // gradient = errorsᵀ · inputs, over all their rows. Any thread, beside a gradient().
  virtual void multiply(const Matrix& /*matrix*/, const Factors& /*factors*/,
                        std::span<float> /*gradient*/) const {}

  // Of models that answer a sequence with a sequence: the tokens of each answer, at most
  // `most`. Others answer nothing.
  virtual std::vector<std::vector<std::int32_t>> translate(const Batch& /*batch*/,
                                                           std::span<const float> /*parameters*/,
                                                           std::size_t /*most*/) {
    return {};
  }

  // Probabilities [batch, classes].
  virtual void predict(const Batch& batch, std::span<const float> parameters,
                       std::span<float> probabilities) = 0;
};

// A Flow for when parameters are already there and nobody waits for gradients.
class NoFlow final : public Flow {
 public:
  void await(Range) override {}
  void ready(Range) override {}
};

}  // namespace paceline
