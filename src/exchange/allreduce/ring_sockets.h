// What the system has carried over the connections of a ring, messages that are under way included:
// Gloo tells of whole ones only, and keeps its sockets to itself.
//
// They are those of this process that have a local address which Gloo has told of. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace paceline {

class RingSockets {
 public:
  // Those of this process with one of these local addresses: "127.0.0.1:4242".
  explicit RingSockets(const std::set<std::string>& places);

  // Bytes received, and sent so that they arrived, with Gloo's framing. Of a socket that is closed
  // as many as before.
  std::uint64_t moved();

 private:
  struct Socket {
    std::string ends;  // another socket may come to have the number
    std::uint64_t moved;
  };
  std::map<int, Socket> sockets_;
};

}  // namespace paceline
