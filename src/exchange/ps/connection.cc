#include "exchange/ps/connection.h"

#include "base/error.h"
#include "base/text.h"
#include "net/socket.h"
#include "session/hello.h"
#include "session/message.h"

namespace paceline {

PsConnection::PsConnection(Loop& loop, PsAddress address, Events events, TimePoint deadline)
    : loop_(loop), address_(std::move(address)), events_(std::move(events)) {
  LinkOptions options;
  options.run = address_.self.run;
  options.short_cut = true;
  for (const wire::ServerAt& server : address_.servers) {
    links_.push_back(connect(loop_, Address::parse(server.address()), options, *this, deadline));
    FrameHeader hello;
    hello.type = kHelloType;
    hello.incarnation = address_.incarnation;
    links_.back()->send(hello, encode_hello({address_.self.role, address_.self.digest}));
  }
  // However long it takes: a server may have much to apply, and one that hangs is the chief's to
  // find.
  if (!wait([this] { return welcomed_.size() == links_.size(); }, TimePoint::max())) {
    std::set<std::uint32_t> silent;
    for (std::uint32_t server = 0; server < links_.size(); ++server) {
      if (!welcomed_.contains(server)) silent.insert(server);
    }
    throw CommError("{} no longer waits for {} to accept its connection", address_.self.name,
                    names_of(silent));
  }
}

PsConnection::~PsConnection() {
  close();
}

void PsConnection::close() {
  closing_ = true;
  for (const auto& link : links_) link->close("done", true);
}

std::uint32_t PsConnection::index_of(const Link& link) const {
  for (std::uint32_t i = 0; i < links_.size(); ++i) {
    if (links_[i].get() == &link) return i;
  }
  return static_cast<std::uint32_t>(links_.size());
}

std::string PsConnection::server_name(std::uint32_t server) const {
  const wire::ServerAt& found = address_.servers.at(server);
  return fmt::format("{} ({})", found.name(), found.address());
}

std::string PsConnection::names_of(const std::set<std::uint32_t>& servers) const {
  std::vector<std::string> names;
  names.reserve(servers.size());
  for (const std::uint32_t server : servers) names.push_back(server_name(server));
  return join(names, " and ");
}

void PsConnection::send(std::uint32_t server, FrameHeader header, std::string_view meta,
                        Payload payload, int priority) {
  header.incarnation = address_.incarnation;
  links_.at(server)->send(header, meta, std::move(payload), priority);
}

bool PsConnection::wait(const std::function<bool()>& done, TimePoint deadline) {
  const auto replaced = [&] {
    if (address_.replaced && address_.replaced() && !lost_) {
      lost_ = ServerLost("{} waits for {} no longer: it was replaced", address_.self.name,
                         server_name(0));
    }
    return lost_.has_value();
  };
  const bool held = loop_.run_until([&] { return replaced() || done(); }, deadline);
  if (lost_) throw ServerLost(*lost_);
  return held;
}

wire::Params PsConnection::params_of(const Link& link, std::string_view meta) const {
  auto params = parsed<wire::Params>(meta);
  if (events_.server_of(params.chunk()) != index_of(link)) {
    throw FrameError(fmt::format("chunk {} is not this server's", params.chunk()));
  }
  return params;
}

std::span<std::byte> PsConnection::place(Link& link, const FrameHeader& header,
                                         std::string_view meta) {
  if (header.type != wire::PARAMS) throw FrameError("unexpected payload from a server");
  return events_.place(params_of(link, meta), header);
}

void PsConnection::received(Link& link, const FrameHeader& header, std::string_view meta,
                            std::span<std::byte>) {
  if (header.type == wire::PARAMS) {
    events_.params(params_of(link, meta), header);
  } else if (header.type == wire::ACK) {
    events_.ack(parsed<wire::Ack>(meta));
  } else if (header.type == wire::REFUSAL) {
    events_.refusal(parsed<wire::Refusal>(meta));
  } else if (header.type == kWelcomeType) {
    welcomed_.insert(index_of(link));
  } else {
    throw FrameError(fmt::format("unexpected message type {} from a server", header.type));
  }
}

void PsConnection::closed(Link& link, const std::string& reason) {
  if (closing_ || lost_) return;
  const CommError cause("{}", reason);
  const std::uint32_t index = index_of(link);
  if (index == links_.size()) {
    lost_ = ServerLost(cause, "{}: a server refused the connection", address_.self.name);
  } else {
    lost_ = ServerLost(cause, "{}: lost {}", address_.self.name, server_name(index));
    lost_->set_about(address_.servers.at(index).name());
  }
}

LinkCounters PsConnection::counters() const {
  LinkCounters total;
  for (const auto& link : links_) total += link->counters();
  return total;
}

}  // namespace paceline
