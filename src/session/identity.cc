#include "session/identity.h"

#include <charconv>

namespace paceline {

std::uint64_t run_id(const std::string& config_digest) {
  std::uint64_t id = 0;
  std::from_chars(config_digest.data(), config_digest.data() + config_digest.size(), id, 16);
  return id;
}

std::string keeper_name(const std::string& worker) {
  return "keeper in " + worker;
}

}  // namespace paceline
