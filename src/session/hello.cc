#include "session/hello.h"

#include <fmt/format.h>

#include "net/refuse.h"
#include "session/message.h"
#include "session/protocol.pb.h"

namespace paceline {

std::string encode_hello(const Hello& hello) {
  wire::Hello message;
  message.set_role(hello.role);
  message.set_config_digest(hello.config_digest);
  message.set_build(hello.build);
  return message.SerializeAsString();
}

Hello decode_hello(std::string_view meta) {
  const auto message = parsed<wire::Hello>(meta);
  return {message.role(), message.config_digest(), message.build()};
}

std::optional<Hello> answer_hello(Link& link, std::string_view meta, const std::string& digest,
                                  std::string_view who) {
  Hello hello = decode_hello(meta);
  if (hello.config_digest != digest) {
    refuse(link, fmt::format("{} was started with another configuration than the {}: start all "
                             "roles with the same config.toml",
                             who, hello.role));
    return std::nullopt;
  }
  if (hello.build != build_id()) {
    refuse(link,
           fmt::format("{} is another build of Paceline than the {} ({} and {}): start the same "
                       "program on all hosts",
                       who, hello.role, build_id(), hello.build));
    return std::nullopt;
  }
  FrameHeader welcome;
  welcome.type = kWelcomeType;
  link.send(welcome, {});
  return hello;
}

}  // namespace paceline
