// A link over a stream of bytes.
#pragma once

#include <sys/uio.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "net/byte_stream.h"
#include "net/frame_reader.h"
#include "net/link_base.h"

namespace paceline {

class SocketLink final : public LinkBase, private Pollable, private StreamUser {
 public:
  SocketLink(Loop& loop, std::unique_ptr<ByteStream> stream, std::string peer,
             const LinkOptions& options);
  ~SocketLink() override;

  // Begins to receive; once, before the loop runs on.
  void start(LinkHandler& handler);
  bool greeted() const { return greeted_; }  // a whole frame has come

 private:
  static constexpr std::size_t kGatheredMessages = 16;  // at most, in one system call

  void transmit() override;
  void release() override;
  bool poll() override;
  void arm() override;
  void readable() override;
  void writable() override;

  bool write_wire();
  void gather();
  std::span<const iovec> describe_wire();  // the bytes of the wire that are left
  void sent(std::size_t bytes);
  bool retry();
  void write_failed(int error);
  void finish_flushing();

  bool read();
  void process(const std::shared_ptr<LinkBase>& self);
  bool take(FrameReader::Event event);
  void place_payload();
  void stream_ended(const Transfer& transfer);
  std::weak_ptr<StreamUser> as_user();

  std::unique_ptr<ByteStream> stream_;
  FrameReader reader_;
  bool processing_ = false;  // a handler is running: its message must stay
  bool armed_to_read_ = false;
  bool greeted_ = false;
  bool deaf_ = false;  // only waiting for the peer to close: what it says is dropped

  std::vector<std::unique_ptr<Message>> wire_;  // being written, in this order
  std::size_t wire_bytes_ = 0;                  // that are left of it
  std::size_t front_sent_ = 0;                  // bytes of the first that are gone
  std::array<iovec, 3 * kGatheredMessages> pieces_;
  bool transmitting_ = false;
  bool blocked_ = false;  // the stream took less than there was
  bool armed_to_write_ = false;
  bool failed_ = false;
  bool ended_ = false;  // all is sent: only waiting for the peer to close
};

}  // namespace paceline
