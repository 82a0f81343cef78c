// Quantities as people write them: "1.5 GB", "250 ms", "12,345".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace paceline {

std::string format_bytes(std::uint64_t bytes);   // powers of 1,000: "31.4 kB"
std::string format_count(std::uint64_t count);   // "60,000"
std::string format_duration(Duration duration);  // "850 µs", "1.20 s", "3 min 05 s"
std::string format_rate(double per_second);      // "1.23 M/s"

// "512M", "1.5G", "300kB" (powers of 1,000) or "1GiB" (powers of 1,024). Throws ConfigError.
std::uint64_t parse_bytes(std::string_view text);
// "250ms", "2s", "5min", "1h"; a bare number is seconds. Throws ConfigError.
Duration parse_duration(std::string_view text);

}  // namespace paceline
