// A parameter server: carries out what its state machine decides, over links.
//
// Lives in the thread that runs the loop. Listens for workers, evaluators and the chief's
// checkpoint reader; what the chief itself says is handed in by the role.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "exchange/ps/holding.h"
#include "exchange/ps/server_core.h"
#include "net/link.h"
#include "net/loop.h"
#include "session/message.h"

namespace paceline {

class PsServer {
 public:
  using TellChief = std::function<void(ChiefWord)>;
  // `digest` of the configuration: clients must have the same. `failed` is called while an
  // exception is handled that is this server's own, not a client's: what it holds may be half
  // changed then.
  PsServer(const ServerCore::Options& options, std::unique_ptr<Holding> holding, std::string digest,
           TellChief tell, std::function<void()> failed);
  ~PsServer();

  LinkHandler* accept(std::shared_ptr<Link> link);  // for the Listener

  // The chief's words: FENCE, PIN, UNPIN, DECISION, STOP.
  void told(wire::Type type, std::string_view meta);
  void report();  // how far this server is; call it now and then

  LinkCounters counters() const;
  // Of a table: what the processor has spent on workers' messages.
  double serving_seconds() const { return serving_; }

 private:
  class Client;
  void carry_out(const ServerCore::Actions& actions, const wire::Push* push,
                 const Gradient& gradient);
  void send_params(const SendParams& send);
  void tell(const SendToChief& message);
  void gone(ClientId id);
  void guarded(const std::function<void()>& work);

  ServerCore core_;
  bool timed_;  // small models have so many messages that the clock would be felt
  std::unique_ptr<Holding> holding_;
  std::string digest_;
  TellChief tell_;
  std::function<void()> failed_;
  std::map<ClientId, std::unique_ptr<Client>> clients_;
  std::vector<std::unique_ptr<Client>> departed_;  // freed when the next one comes
  LinkCounters counted_;                           // of links that are gone
  ClientId last_client_ = 0;
  double serving_ = 0;
  std::string meta_;  // re-used
};

}  // namespace paceline
