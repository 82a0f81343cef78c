#include "model/torch/lstm_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/torch/lstm_kernels.cc"
// The order matters.
// clang-format off
#include <hwy/foreach_target.h>  // compiles what follows once per instruction set
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
#include "model/torch/for_all-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace paceline {
namespace HWY_NAMESPACE {

template <typename D, typename V>
HWY_INLINE V sigmoid(D d, V x) {
  const V half = hn::Set(d, 0.5f);
  return hn::MulAdd(hn::Tanh(d, hn::Mul(x, half)), half, half);
}

void forward(const LstmForward& step) {
  const std::size_t hidden = step.hidden;
  for (std::size_t e = 0; e < step.examples; ++e) {
    float* gates = step.gates + e * 4 * hidden;
    const float* before = step.cell_before + e * hidden;
    float* cell = step.cell + e * hidden;
    float* output = step.output + e * hidden;
    for_all(hidden, [&](auto d, std::size_t i) {
      const auto in = sigmoid(d, hn::LoadU(d, gates + i));
      const auto forget = sigmoid(d, hn::LoadU(d, gates + hidden + i));
      const auto content = hn::Tanh(d, hn::LoadU(d, gates + 2 * hidden + i));
      const auto out = sigmoid(d, hn::LoadU(d, gates + 3 * hidden + i));
      const auto now = hn::MulAdd(forget, hn::LoadU(d, before + i), hn::Mul(in, content));
      hn::StoreU(in, d, gates + i);
      hn::StoreU(forget, d, gates + hidden + i);
      hn::StoreU(content, d, gates + 2 * hidden + i);
      hn::StoreU(out, d, gates + 3 * hidden + i);
      hn::StoreU(now, d, cell + i);
      hn::StoreU(hn::Mul(out, hn::Tanh(d, now)), d, output + i);
    });
  }
}

void backward(const LstmBackward& step) {
  const std::size_t hidden = step.hidden;
  for (std::size_t e = 0; e < step.examples; ++e) {
    float* gates = step.gates + e * 4 * hidden;
    const float* before = step.cell_before + e * hidden;
    const float* cell = step.cell + e * hidden;
    const float* output_gradient = step.output_gradient + e * hidden;
    float* cell_gradient = step.cell_gradient + e * hidden;
    for_all(hidden, [&](auto d, std::size_t i) {
      const auto one = hn::Set(d, 1.0f);
      const auto in = hn::LoadU(d, gates + i);
      const auto forget = hn::LoadU(d, gates + hidden + i);
      const auto content = hn::LoadU(d, gates + 2 * hidden + i);
      const auto out = hn::LoadU(d, gates + 3 * hidden + i);
      const auto squashed = hn::Tanh(d, hn::LoadU(d, cell + i));
      const auto dout = hn::LoadU(d, output_gradient + i);
      // d tanh(x) = 1 − tanh², d sigmoid(x) = s · (1 − s)
      const auto dcell = hn::MulAdd(hn::Mul(dout, out), hn::NegMulAdd(squashed, squashed, one),
                                    hn::LoadU(d, cell_gradient + i));
      const auto slope = [&](auto s) { return hn::NegMulAdd(s, s, s); };
      hn::StoreU(hn::Mul(hn::Mul(dcell, content), slope(in)), d, gates + i);
      hn::StoreU(hn::Mul(hn::Mul(dcell, hn::LoadU(d, before + i)), slope(forget)), d,
                 gates + hidden + i);
      hn::StoreU(hn::Mul(hn::Mul(dcell, in), hn::NegMulAdd(content, content, one)), d,
                 gates + 2 * hidden + i);
      hn::StoreU(hn::Mul(hn::Mul(dout, squashed), slope(out)), d, gates + 3 * hidden + i);
      hn::StoreU(hn::Mul(dcell, forget), d, cell_gradient + i);
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace paceline
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace paceline {

HWY_EXPORT(forward);
HWY_EXPORT(backward);

void lstm_forward(const LstmForward& step) {
  HWY_DYNAMIC_DISPATCH(forward)(step);
}

void lstm_backward(const LstmBackward& step) {
  HWY_DYNAMIC_DISPATCH(backward)(step);
}

}  // namespace paceline
#endif
