// A loop over floats for kernels that are compiled once per instruction set: to be included
// after hwy/foreach_target.h, and as often.
#if defined(PACELINE_MODEL_TORCH_FOR_ALL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PACELINE_MODEL_TORCH_FOR_ALL_INL_H_
#undef PACELINE_MODEL_TORCH_FOR_ALL_INL_H_
#else
#define PACELINE_MODEL_TORCH_FOR_ALL_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace paceline {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Calls `work` with a tag and an offset, for all of `count` floats: whole vectors, then the
// rest one by one.
template <typename Work>
HWY_INLINE void for_all(std::size_t count, const Work& work) {
  const hn::ScalableTag<float> vectors;
  const std::size_t lanes = hn::Lanes(vectors);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) work(vectors, i);
  for (; i < count; ++i) work(hn::CappedTag<float, 1>(), i);
}

}  // namespace HWY_NAMESPACE
}  // namespace paceline
HWY_AFTER_NAMESPACE();

#endif
