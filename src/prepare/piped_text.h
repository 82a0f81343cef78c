// What is piped in, plain or compressed by gzip or zstd. A pipe may keep us waiting for as long as
// it likes; whoever sets `stop`, which must outlive this, ends that with Interrupted. All else that
// fails is a DataError. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "data/byte_source.h"
#include "prepare/tasks.h"

namespace paceline {

// What some programs begin a file of UTF-8 with.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

class PipedText {
 public:
  PipedText(int file, const StopFlag& stop);  // `file` stays open
  PipedText(const PipedText&) = delete;
  PipedText& operator=(const PipedText&) = delete;

  // The first that is not blank, without its end, what is blank before it and a byte order mark, or
  // as much as there is of a very long one. In CSV it may hold line ends between quotes. Before
  // read(), which gives it again; valid until the next call.
  std::string_view first_line(bool csv = false);

  // Fills as much of `into` as there is: less than its size only at the end.
  std::size_t read(std::span<std::byte> into);

  std::uint64_t consumed() const { return consumed_; }  // bytes, as they came

 private:
  ByteSource open();
  std::size_t stored(std::span<std::byte> into);
  std::size_t from_pipe(std::span<std::byte> into);

  int file_;
  const StopFlag& stop_;
  std::uint64_t consumed_ = 0;
  std::string magic_;  // what was read to know what it is, until it is given on
  ByteSource text_;
  std::string start_;      // what was read to find the first line
  std::size_t given_ = 0;  // of that
};

}  // namespace paceline
