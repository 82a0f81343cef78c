#include "net/hello.h"

#include <limits>

#include "net/hello.pb.h"

namespace paceline {

std::string encode_hello(const Hello& hello) {
  wire::Hello message;
  message.set_role(hello.role);
  message.set_config_digest(hello.config_digest);
  return message.SerializeAsString();
}

Hello decode_hello(std::string_view meta) {
  wire::Hello message;
  if (!message.ParseFromArray(meta.data(), static_cast<int>(meta.size()))) {
    throw FrameError("malformed Hello: its metadata cannot be parsed");
  }
  return {message.role(), message.config_digest()};
}

void refuse(Link& link, const std::string& sentence) {
  FrameHeader header;
  header.type = kRefusedType;
  link.send(header, sentence, {}, std::numeric_limits<int>::min());
  link.close("refused the peer: " + sentence, /*flush=*/true);
}

}  // namespace paceline
