// The in-memory twin of a socket: two link ends in one process, same promises, for tests
// of everything above net/ and for roles that share a process.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "net/link.h"
#include "net/loop.h"

namespace paceline {

struct MemoryEnd {
  Loop* loop;
  LinkHandler* handler;
  std::string peer;  // how this end calls the other
};

// Two connected ends; each delivers in its own loop, which may be the same.
std::pair<std::shared_ptr<Link>, std::shared_ptr<Link>> connect_in_memory(
    const MemoryEnd& first, const MemoryEnd& second, const LinkOptions& options);

}  // namespace paceline
