// A peer without a link: a socket on which a test writes and reads bytes as it likes.
#pragma once

#include <sys/socket.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "net/endpoint.h"

namespace paceline {

class RawPeer {
 public:
  explicit RawPeer(const Address& address) : RawPeer(resolve(address).front()) {}

  // Returns how many bytes the socket took.
  std::size_t write(std::string_view bytes) {
    const int flags = MSG_NOSIGNAL | MSG_DONTWAIT;
    return static_cast<std::size_t>(
        std::max<ssize_t>(0, ::send(socket_.get(), bytes.data(), bytes.size(), flags)));
  }
  // What has arrived; empty if nothing.
  std::string read() {
    char bytes[65536];
    const ssize_t size = ::recv(socket_.get(), bytes, sizeof(bytes), MSG_DONTWAIT);
    return size > 0 ? std::string(bytes, static_cast<std::size_t>(size)) : std::string();
  }
  void end() { ::shutdown(socket_.get(), SHUT_RDWR); }

 private:
  explicit RawPeer(const Endpoint& endpoint) : socket_(open_socket(endpoint)) {
    if (::connect(socket_.get(), endpoint.get(), endpoint.size) != 0 && errno != EINPROGRESS) {
      throw std::runtime_error("the test's peer cannot connect: " + errno_text(errno));
    }
  }
  Descriptor socket_;
};

// A frame as bytes, of any version.
inline std::string raw_frame(FrameHeader header, std::string_view meta, std::string_view payload,
                             std::uint8_t version = kProtocolVersion) {
  header.meta_bytes = static_cast<std::uint32_t>(meta.size());
  header.payload_bytes = payload.size();
  std::string bytes(kHeaderBytes, ' ');
  encode(header, std::as_writable_bytes(std::span(bytes)).first<kHeaderBytes>());
  bytes[4] = static_cast<char>(version);
  const auto crc = ::crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), kHeaderBytes - 4);
  for (std::size_t i = 0; i < 4; ++i) {
    bytes[kHeaderBytes - 4 + i] = static_cast<char>(crc >> (8 * i));
  }
  return bytes.append(meta).append(payload);
}

}  // namespace paceline
