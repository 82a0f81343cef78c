// Cuts a stream of bytes into frames, wherever the pieces begin and end.
//
// Small frames pass through one buffer, many per system call. What a payload still lacks
// is read straight to its place, with the buffer behind it for whatever follows. For one
// thread. Nothing is allocated for a frame before its header has been checked, nor the buffer
// before the first bytes come: a connection that says nothing costs little.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/buffer.h"
#include "net/body_checksum.h"
#include "net/frame.h"

namespace paceline {

class FrameReader {
 public:
  enum class Event {
    kNeedsBytes,  // read into room(), then report filled()
    kHeader,      // header() is valid
    kMeta,        // meta() is complete: call place() or discard() if there is a payload
    kMessage,     // payload() is complete, and as it was sent
  };

  explicit FrameReader(const FrameLimits& limits);

  // Where the next bytes of the stream belong; never empty.
  std::span<const iovec> room();
  void filled(std::size_t bytes);
  // The next event in what has been filled. Throws FrameError; then the stream is lost.
  Event next();

  const FrameHeader& header() const { return header_; }
  std::string_view meta() const { return meta_; }
  std::span<std::byte> payload() const { return payload_; }
  void place(std::span<std::byte> payload);
  // The rest of the current payload is read and dropped; its place is not touched again.
  void discard();
  void reset();  // forgets everything; the next byte begins a frame
  bool between_frames() const;

 private:
  enum class Stage { kHeader, kMeta, kPayload };

  std::size_t buffered() const { return end_ - begin_; }
  Event next_header();
  bool fill_target();
  void took(std::span<const std::byte> bytes);
  void check_body();

  FrameLimits limits_;
  std::array<std::byte, 512> first_;  // where the stream's first bytes go
  Buffer buffer_;                     // empty until then
  std::size_t begin_ = 0;             // of what is buffered
  std::size_t end_ = 0;
  std::array<iovec, 2> room_{};

  Stage stage_ = Stage::kHeader;
  FrameHeader header_;
  std::string meta_;
  std::span<std::byte> payload_;
  bool placed_ = false;
  std::span<std::byte> target_;  // what the metadata or the payload still lacks
  std::uint64_t skip_ = 0;       // bytes of a discarded payload still to come
  bool checks_ = false;          // the body has a checksum, and all of it is looked at
  BodyChecksum checksum_;
};

}  // namespace paceline
