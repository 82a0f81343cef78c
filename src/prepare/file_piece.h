// Bytes of a file, and some that follow them: what one process sends to another.
//
// Both sides of a transfer count on all bytes, so neither stops when it fails: it goes on with
// zeros, or drops what comes, and `failure` says why.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file/file.h"

namespace paceline {

struct FilePiece {
  std::filesystem::path path;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string tail;

  std::uint64_t bytes() const { return end - begin + tail.size(); }
};

// The bytes of pieces, one behind the other.
class PieceReader {
 public:
  explicit PieceReader(std::span<const FilePiece> pieces) : pieces_(pieces) {}
  ~PieceReader() { close(); }
  PieceReader(const PieceReader&) = delete;
  PieceReader& operator=(const PieceReader&) = delete;

  // As many as there are left, or find room; returns how many.
  std::size_t read(std::span<char> into, std::optional<DataError>& failure);

 private:
  void read_file(const FilePiece& piece, std::span<char> into, std::optional<DataError>& failure);
  void close();

  std::span<const FilePiece> pieces_;
  std::size_t piece_ = 0;
  std::uint64_t at_ = 0;  // in the piece
  int file_ = -1;
};

// Makes files of these sizes of bytes that come one behind the other.
class PieceWriter {
 public:
  using Place = std::function<std::filesystem::path(std::size_t number)>;
  PieceWriter(std::vector<std::uint64_t> sizes, Place place)
      : sizes_(std::move(sizes)), place_(std::move(place)) {}

  // A call without bytes makes those files that have none.
  void write(std::string_view bytes, std::optional<DataError>& failure);

 private:
  void put(std::string_view bytes);

  std::vector<std::uint64_t> sizes_;
  Place place_;
  std::size_t piece_ = 0;
  std::uint64_t at_ = 0;  // in the piece
  std::optional<AtomicFile> file_;
};

}  // namespace paceline
