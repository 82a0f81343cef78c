// The plain socket, TCP or Unix, as a ByteStream.
#pragma once

#include <memory>

#include "net/byte_stream.h"
#include "net/loop.h"

namespace paceline {

// Takes over a connected stream socket of the given address family (AF_INET, …).
std::unique_ptr<ByteStream> make_socket_stream(Loop& loop, int descriptor, int family);

}  // namespace paceline
