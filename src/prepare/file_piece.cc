#include "prepare/file_piece.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/file/read_at.h"

namespace paceline {

std::size_t PieceReader::read(std::span<char> into, std::optional<DataError>& failure) {
  std::size_t filled = 0;
  while (filled < into.size() && piece_ < pieces_.size()) {
    const FilePiece& piece = pieces_[piece_];
    const std::uint64_t in_file = piece.end - piece.begin;
    if (at_ == piece.bytes()) {
      close();
      ++piece_;
      at_ = 0;
      continue;
    }
    const std::uint64_t left = (at_ < in_file ? in_file : piece.bytes()) - at_;
    const std::span<char> some = into.subspan(
        filled, static_cast<std::size_t>(std::min<std::uint64_t>(into.size() - filled, left)));
    if (at_ >= in_file) {
      std::copy_n(piece.tail.data() + (at_ - in_file), some.size(), some.data());
    } else if (!failure) {
      read_file(piece, some, failure);
    }
    at_ += some.size();
    filled += some.size();
  }
  return filled;
}

void PieceReader::read_file(const FilePiece& piece, std::span<char> into,
                            std::optional<DataError>& failure) {
  if (file_ < 0) file_ = ::open(piece.path.c_str(), O_RDONLY | O_CLOEXEC);
  std::optional<std::size_t> got;
  if (file_ >= 0) got = read_at(file_, piece.begin + at_, std::as_writable_bytes(into));
  if (got == into.size()) return;
  failure = DataError("cannot read {}: {}", piece.path.string(),
                      got ? "it is cut off" : errno_text(errno));
}

void PieceReader::close() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

void PieceWriter::write(std::string_view bytes, std::optional<DataError>& failure) {
  while (!bytes.empty() || (piece_ < sizes_.size() && sizes_[piece_] == at_)) {
    const std::string_view some = bytes.substr(0, sizes_[piece_] - at_);
    try {
      if (!failure) put(some);
    } catch (const DataError& error) {
      failure = error;
      file_.reset();
    }
    bytes.remove_prefix(some.size());
    at_ += some.size();
    if (at_ < sizes_[piece_]) continue;
    ++piece_;
    at_ = 0;
  }
}

void PieceWriter::put(std::string_view bytes) {
  if (!file_) file_.emplace(place_(piece_));
  file_->write(bytes);
  if (at_ + bytes.size() < sizes_[piece_]) return;
  file_->commit(AtomicFile::Durable::kLater);
  file_.reset();
}

}  // namespace paceline
