#include "session/hello.h"

#include "session/message.h"
#include "session/protocol.pb.h"

namespace paceline {

std::string encode_hello(const Hello& hello) {
  wire::Hello message;
  message.set_role(hello.role);
  message.set_config_digest(hello.config_digest);
  return message.SerializeAsString();
}

Hello decode_hello(std::string_view meta) {
  const auto message = parsed<wire::Hello>(meta);
  return {message.role(), message.config_digest()};
}

}  // namespace paceline
