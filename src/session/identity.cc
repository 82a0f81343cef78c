#include "session/identity.h"

namespace paceline {

std::string keeper_name(const std::string& worker) {
  return "keeper in " + worker;
}

}  // namespace paceline
