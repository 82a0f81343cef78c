// Metadata of a message from a peer.
#pragma once

#include <string_view>

#include "net/frame.h"

namespace paceline {

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
