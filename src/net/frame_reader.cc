#include "net/frame_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace paceline {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{64} << 10;
// A payload that does not fit the buffer seldom comes alone. After one, only as much is read
// ahead as the next header and metadata need, and the next payload is not copied. (For
// smaller ones a copy costs less than the second system call.)
constexpr std::size_t kShortRead = 512;

}  // namespace

FrameReader::FrameReader(const FrameLimits& limits) : limits_(limits) {}

std::span<const iovec> FrameReader::room() {
  if (buffer_.size() == 0) {
    room_[0] = {first_.data(), first_.size()};
    return std::span<const iovec>(room_).first(1);
  }
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, buffered());
    end_ = buffered();
    begin_ = 0;
  }
  room_[0] = {target_.data(), target_.size()};
  const bool large = header_.payload_bytes >= kBufferBytes;
  room_[1] = {buffer_.data() + end_, (large ? kShortRead : buffer_.size()) - end_};
  return target_.empty() ? std::span<const iovec>(room_).last(1) : room_;
}

void FrameReader::filled(std::size_t bytes) {
  if (buffer_.size() == 0) {
    buffer_ = Buffer(kBufferBytes);
    std::memcpy(buffer_.data(), first_.data(), bytes);
  }
  const std::size_t direct = std::min(bytes, target_.size());
  took(target_.first(direct));
  target_ = target_.subspan(direct);
  end_ += bytes - direct;
}

FrameReader::Event FrameReader::next() {
  if (stage_ == Stage::kHeader) return next_header();
  if (!fill_target()) return Event::kNeedsBytes;
  if (stage_ == Stage::kMeta) {
    stage_ = Stage::kPayload;
    return Event::kMeta;
  }
  stage_ = Stage::kHeader;
  check_body();
  return Event::kMessage;
}

// While they are in the cache.
void FrameReader::took(std::span<const std::byte> bytes) {
  if (checks_) checksum_.add(bytes);
}

void FrameReader::check_body() {
  if (!std::exchange(checks_, false) || checksum_.value() == header_.body_checksum) return;
  throw FrameError(
      fmt::format("damaged frame: the checksum of its {} bytes does not match. The network or the "
                  "memory of a host changes bytes: check both",
                  header_.meta_bytes + header_.payload_bytes));
}

FrameReader::Event FrameReader::next_header() {
  const std::byte* bytes = buffer_.data() + begin_;
  if (buffered() < kHeaderBytes) {
    // A peer of another version may wait for an answer after fewer bytes than a header.
    if (buffered() >= kPreambleBytes) {
      check_preamble(std::span<const std::byte, kPreambleBytes>(bytes, kPreambleBytes));
    }
    return Event::kNeedsBytes;
  }
  header_ = decode(std::span<const std::byte, kHeaderBytes>(bytes, kHeaderBytes), limits_);
  begin_ += kHeaderBytes;
  meta_.resize(header_.meta_bytes);
  target_ = std::as_writable_bytes(std::span(meta_));
  payload_ = {};
  placed_ = false;
  checks_ = header_.body_checksum.has_value();
  if (checks_) checksum_.start();
  stage_ = Stage::kMeta;
  return Event::kHeader;
}

// Moves buffered bytes to where they belong; returns whether nothing is lacking.
bool FrameReader::fill_target() {
  const std::size_t ready = std::min(buffered(), target_.size());
  if (ready > 0) {
    std::memcpy(target_.data(), buffer_.data() + begin_, ready);
    took(target_.first(ready));
    target_ = target_.subspan(ready);
    begin_ += ready;
  }
  const std::size_t dropped = std::min<std::uint64_t>(buffered(), skip_);
  begin_ += dropped;
  skip_ -= dropped;
  return target_.empty() && skip_ == 0;
}

void FrameReader::place(std::span<std::byte> payload) {
  PACELINE_CHECK(payload.size() == header_.payload_bytes);
  payload_ = payload;
  target_ = payload;
  placed_ = true;
}

void FrameReader::discard() {
  if (stage_ != Stage::kPayload || skip_ > 0) return;
  skip_ = placed_ ? target_.size() : header_.payload_bytes;
  payload_ = {};
  target_ = {};
  checks_ = false;  // nobody gets to see it
}

void FrameReader::reset() {
  begin_ = end_ = 0;
  stage_ = Stage::kHeader;
  payload_ = target_ = {};
  skip_ = 0;
  checks_ = false;
}

bool FrameReader::between_frames() const {
  return stage_ == Stage::kHeader && buffered() == 0;
}

}  // namespace paceline
