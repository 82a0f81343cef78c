#include "data/dataset.h"

#include "base/text.h"

namespace paceline {

bool is_for_test(std::string_view example, double test_share) {
  return (digest_bits(example) >> 32) < static_cast<std::uint64_t>(test_share * 0x1p32);
}

}  // namespace paceline
