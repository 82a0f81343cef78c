// What clients have named in their reads of a table and refer to again, by client and ticket.
// A value is kept until it is taken, its client says that it need not be, or its client is gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "exchange/ps/server_core.h"
#include "net/frame.h"

namespace paceline {

template <typename Value>
class Tickets {
 public:
  // Of one client: a worker has two or three reads under way, whoever saves or tests a few.
  static constexpr std::size_t kMost = 64;

  // Throws FrameError.
  void add(ClientId client, std::uint64_t ticket, Value value) {
    std::map<std::uint64_t, Value>& own = values_[client];
    if (own.size() >= kMost) throw FrameError("too many reads at once");
    if (!own.emplace(ticket, std::move(value)).second) throw FrameError("a ticket was used twice");
  }

  // The value, or null.
  Value* find(ClientId client, std::uint64_t ticket) {
    const auto own = values_.find(client);
    if (own == values_.end()) return nullptr;
    const auto found = own->second.find(ticket);
    return found == own->second.end() ? nullptr : &found->second;
  }

  std::size_t count(ClientId client) const {
    const auto own = values_.find(client);
    return own == values_.end() ? 0 : own->second.size();
  }

  void forget(ClientId client, std::uint64_t ticket) {
    const auto own = values_.find(client);
    if (own != values_.end()) own->second.erase(ticket);
  }
  void forget(ClientId client) { values_.erase(client); }

 private:
  std::map<ClientId, std::map<std::uint64_t, Value>> values_;
};

}  // namespace paceline
