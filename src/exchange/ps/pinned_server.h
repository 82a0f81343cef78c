// Answers pulls of versions that were put there: a parameter server's reading side alone.
//
// Lives in the thread that runs its loop.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "exchange/chunks.h"
#include "net/link.h"

namespace paceline {

// One version, all of it: the parameters and, behind them, the optimizer's state vectors.
struct PinnedVersion {
  Buffer values;
  Buffer state;
};

class PinnedServer {
 public:
  // `digest` of the configuration: clients must have the same.
  PinnedServer(const ChunkMap& chunks, std::string digest);
  ~PinnedServer();

  LinkHandler* accept(std::shared_ptr<Link> link);  // for the Listener

  void pin(std::uint64_t version, std::shared_ptr<const PinnedVersion> content);
  void unpin(std::uint64_t version) { pinned_.erase(version); }
  std::size_t clients() const { return clients_.size(); }  // connected now
  LinkCounters counters() const;                           // of all there have been

 private:
  class Client;
  void gone(std::uint64_t id);
  void pull(Link& link, std::uint32_t chunk, std::uint64_t version, bool state);

  ChunkMap chunks_;
  std::string digest_;
  std::map<std::uint64_t, std::shared_ptr<const PinnedVersion>> pinned_;
  std::map<std::uint64_t, std::unique_ptr<Client>> clients_;
  std::vector<std::unique_ptr<Client>> departed_;  // freed when the next one comes
  LinkCounters counted_;                           // of links that are gone
  std::uint64_t last_client_ = 0;
};

}  // namespace paceline
