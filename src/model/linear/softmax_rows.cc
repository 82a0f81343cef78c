#include "model/linear/softmax_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/linear/softmax_rows.cc"
#include <hwy/foreach_target.h>  // compiles what follows once per instruction set
#include <hwy/highway.h>
//
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace paceline {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using F = hn::CappedTag<float, 8>;  // the stride of the outputs is a multiple of 8
using V = hn::Vec<F>;
constexpr F kF;
constexpr std::size_t kLanes = hn::MaxLanes(kF);

// e^x for x ≤ 0; unlike hn::Exp, of what is not a number too.
HWY_INLINE V exp_or_nan(V x) {
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(kF, x));
}

SoftmaxTerms softmax(float* row, std::size_t classes, std::size_t label, float scale,
                     const float* bias) {
  const V lowest = hn::Set(kF, std::numeric_limits<float>::lowest());
  V largest = lowest;
  for (std::size_t i = 0; i < classes; i += kLanes) {
    const V logits = hn::MulAdd(hn::Load(kF, row + i), hn::Set(kF, scale), hn::Load(kF, bias + i));
    const V padded = hn::IfThenElse(hn::FirstN(kF, classes - i), logits, lowest);
    hn::Store(padded, kF, row + i);
    largest = hn::Max(largest, padded);
  }
  largest = hn::MaxOfLanes(kF, largest);
  SoftmaxTerms terms;
  terms.gap = hn::GetLane(largest) - row[label];
  auto as_large_before = hn::FirstN(kF, 0);
  V sum = hn::Zero(kF);
  for (std::size_t i = 0; i < classes; i += kLanes) {
    const V logits = hn::Load(kF, row + i);
    const auto before = hn::FirstN(kF, std::max(label, i) - i);
    as_large_before = hn::Or(as_large_before, hn::And(before, hn::Eq(logits, largest)));
    const V power = exp_or_nan(hn::Sub(logits, largest));
    hn::Store(power, kF, row + i);
    sum = hn::Add(sum, power);
  }
  sum = hn::SumOfLanes(kF, sum);
  terms.sum = hn::GetLane(sum);
  terms.correct = terms.gap == 0 && !std::isnan(terms.sum) && hn::AllFalse(kF, as_large_before);
  const V inverse = hn::Div(hn::Set(kF, 1), sum);
  for (std::size_t i = 0; i < classes; i += kLanes) {
    hn::Store(hn::Mul(hn::Load(kF, row + i), inverse), kF, row + i);
  }
  return terms;
}

void softmax_all(std::span<const std::int32_t> labels, float scale, const float* bias,
                 LinearScratch& scratch, SoftmaxTerms* terms) {
  for (std::size_t e = 0; e < labels.size(); ++e) {
    terms[e] = softmax(scratch.outputs(e), scratch.classes(), static_cast<std::size_t>(labels[e]),
                       scale, bias);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace paceline
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace paceline {
namespace {
HWY_EXPORT(softmax_all);
}  // namespace

void softmax_rows(std::span<const std::int32_t> labels, float scale, std::span<const float> bias,
                  LinearScratch& scratch, std::span<SoftmaxTerms> terms) {
  PACELINE_CHECK(labels.size() <= LinearScratch::kRowsPerPass && terms.size() == labels.size());
  PACELINE_CHECK(bias.size() == scratch.classes());
  std::ranges::copy(bias, scratch.bias());
  HWY_DYNAMIC_DISPATCH(softmax_all)(labels, scale, scratch.bias(), scratch, terms.data());
}

}  // namespace paceline
#endif
