// The lines of a portion, whichever way the file is compressed.
//
// A line is a view into a buffer with kPadding readable bytes behind it, as simdjson wants them,
// and valid until the next call. In CSV a line may hold line ends between quotes. One thread at a
// time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "prepare/input.h"

namespace paceline {

class LineReader {
 public:
  static constexpr std::size_t kPadding = 64;
  static constexpr std::size_t kMostLineBytes = std::size_t{8} << 20;

  // Throws DataError, as next() does, when the file cannot be read or is cut off, and what a pipe
  // throws.
  LineReader(const InputFile& file, const Portion& portion);

  // Without its end, and without the names of columns; nothing: that was the last. Blank lines are
  // left out.
  std::optional<std::string_view> next();

  std::uint64_t too_long() const { return too_long_; }  // lines that were left out
  std::uint64_t consumed() const;                       // bytes of the file as it is stored

 private:
  // Fills as much as there is; less only at the end.
  using Read = std::function<std::size_t(std::span<std::byte> into)>;

  void open_portion();
  std::optional<std::string_view> next_of_all();
  const char* end_of_line() const;  // of the one at at_; null: it is not there yet
  bool fill();
  void skip_long_line();
  void skip_byte_order_mark();

  const InputFile& file_;
  Portion portion_;
  bool in_portions_;   // otherwise all of the file is one
  bool names_follow_;  // of columns, before the first line
  Read read_;
  std::function<std::uint64_t()> stored_;  // how far a compressed file was read
  std::size_t room_;
  std::unique_ptr<char[]> buffer_;
  const char* at_;
  const char* end_;
  std::uint64_t offset_ = 0;  // of end_ in the file
  bool over_ = false;         // nothing more to read
  std::uint64_t too_long_ = 0;
};

}  // namespace paceline
