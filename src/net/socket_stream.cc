#include "net/socket_stream.h"

#include <sys/socket.h>

#include <asio.hpp>
#include <cerrno>
#include <utility>

namespace paceline {
namespace {

Transfer transfer(ssize_t result) {
  if (result >= 0) return {.bytes = static_cast<std::size_t>(result)};
  if (errno == EAGAIN || errno == EWOULDBLOCK) return {.would_block = true};
  return {.error = errno};
}

// Reads and writes are plain system calls: Asio only tells when the socket is ready. Its
// own asynchronous operations cost a trip through its queue for each message.
class SocketStream final : public ByteStream {
 public:
  SocketStream(Loop& loop, int descriptor, int family)
      : socket_(loop.context(), asio::generic::stream_protocol(family, 0), descriptor) {}

  Transfer read(std::span<const iovec> into) override {
    msghdr message = header(into);
    ssize_t result = 0;
    do {
      // Polling ends up here most of the time; recv() is the cheaper way to hear "nothing".
      result = into.size() == 1 ? ::recv(socket_.native_handle(), into[0].iov_base, into[0].iov_len,
                                         MSG_DONTWAIT)
                                : ::recvmsg(socket_.native_handle(), &message, MSG_DONTWAIT);
    } while (result < 0 && errno == EINTR);
    return transfer(result);
  }

  Transfer write(std::span<const iovec> from) override {
    const msghdr message = header(from);
    ssize_t result = 0;
    do {
      result = ::sendmsg(socket_.native_handle(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    } while (result < 0 && errno == EINTR);
    return transfer(result);
  }

  void wait_readable(std::weak_ptr<StreamUser> user) override {
    wait(asio::socket_base::wait_read, &StreamUser::readable, std::move(user));
  }
  void wait_writable(std::weak_ptr<StreamUser> user) override {
    wait(asio::socket_base::wait_write, &StreamUser::writable, std::move(user));
  }

  void end() override { ::shutdown(socket_.native_handle(), SHUT_WR); }

  void close() override {
    asio::error_code ignored;  // the descriptor is gone whatever close() says
    socket_.close(ignored);
  }

 private:
  static msghdr header(std::span<const iovec> pieces) {
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(pieces.data());
    message.msg_iovlen = pieces.size();
    return message;
  }

  void wait(asio::socket_base::wait_type type, void (StreamUser::*ready)(),
            std::weak_ptr<StreamUser> user) {
    socket_.async_wait(type, [user = std::move(user), ready](const asio::error_code& error) {
      if (error == asio::error::operation_aborted) return;
      // Holds no reference during the call: the user looks whether others still do.
      if (StreamUser* alive = user.lock().get()) (alive->*ready)();
    });
  }

  asio::generic::stream_protocol::socket socket_;
};

}  // namespace

std::unique_ptr<ByteStream> make_socket_stream(Loop& loop, int descriptor, int family) {
  return std::make_unique<SocketStream>(loop, descriptor, family);
}

}  // namespace paceline
