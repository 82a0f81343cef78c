// Who a role is to the others: what it says when it connects.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"

namespace paceline {

struct Identity {
  std::uint64_t run = 0;  // of this start of it
  std::string digest;     // of the configuration, which all roles share
  std::string role;       // "worker"
  std::string name;       // "worker1": in messages
};

// Of a ring without servers: what the chief calls the thread of this worker's process that keeps
// versions.
std::string keeper_name(const std::string& worker);

// The link to a server has ended. When that is because the server has, the chief's own line to it
// ends just then: whoever catches this gives the chief the first word.
class ServerLost : public CommError {
 public:
  using CommError::CommError;
};

}  // namespace paceline
