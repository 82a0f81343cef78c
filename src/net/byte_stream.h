// The bytes beneath a SocketLink, and the seam for encryption: SocketStream is the plain
// socket; a TLS stream implements the same calls over SSL_read and SSL_write, whose
// "wants to read" and "wants to write" become would_block and the two waits.
//
// Calls never block. For the thread of the loop.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <memory>
#include <span>

namespace paceline {

// What one call has moved. Fewer bytes than there was room for: no more at the moment.
// None, without error and would_block: the peer has ended the stream.
struct Transfer {
  std::size_t bytes = 0;
  int error = 0;  // errno
  bool would_block = false;
};

class StreamUser {
 public:
  virtual void readable() = 0;
  virtual void writable() = 0;

 protected:
  ~StreamUser() = default;
};

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  virtual Transfer read(std::span<const iovec> into) = 0;
  virtual Transfer write(std::span<const iovec> from) = 0;
  // Calls the user back once, from the loop, when read() or write() may get further;
  // never after close(), nor when the user is gone.
  virtual void wait_readable(std::weak_ptr<StreamUser> user) = 0;
  virtual void wait_writable(std::weak_ptr<StreamUser> user) = 0;
  virtual void end() = 0;    // nothing more will be written; reading goes on
  virtual void close() = 0;  // the peer may get a reset if bytes are still unread
};

}  // namespace paceline
