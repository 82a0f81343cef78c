#include "base/denormals.h"

#include <cstdint>

#ifdef __x86_64__
#include <xmmintrin.h>
#endif

namespace paceline {

void flush_denormals() {
#if defined(__x86_64__)
  constexpr std::uint32_t kResults = 1U << 15;  // MXCSR's FTZ
  constexpr std::uint32_t kInputs = 1U << 6;    // and DAZ
  _mm_setcsr(_mm_getcsr() | kResults | kInputs);
#elif defined(__aarch64__)
  std::uint64_t control = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  asm volatile("msr fpcr, %0" : : "r"(control | std::uint64_t{1} << 24));
#endif
}

}  // namespace paceline
