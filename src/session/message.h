// Messages between roles, as they travel: a type and its metadata.
#pragma once

#include <string>
#include <string_view>

#include "net/frame.h"
#include "session/protocol.pb.h"

namespace paceline {

struct ChiefWord {  // to the chief, or from it
  wire::Type type;
  std::string meta;
};

// Throws FrameError: the link it came on is closed.
template <typename Message>
Message parsed(std::string_view meta) {
  Message message;
  if (!message.ParseFromArray(meta.data(), static_cast<int>(meta.size()))) {
    throw FrameError("metadata cannot be parsed");
  }
  return message;
}

}  // namespace paceline
