// A file of many small items, written in large pieces; it appears with commit(). One thread at a
// time. Throws DataError.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/file/file.h"

namespace paceline {

class BufferedFile {
 public:
  explicit BufferedFile(const std::filesystem::path& path) : file_(path) {
    pending_.reserve(kPieceBytes + kPieceBytes / 16);
  }

  std::uint64_t size() const { return written_ + pending_.size(); }
  void add(std::string_view bytes) { pending_ += bytes; }
  template <typename Item>
  void add_items(const Item* items, std::size_t count) {
    pending_.append(reinterpret_cast<const char*>(items), count * sizeof(Item));
  }
  // What was added since the size was `begin`, which was not before the last end_item().
  std::string_view since(std::uint64_t begin) const {
    return std::string_view(pending_).substr(begin - written_);
  }
  void end_item() {
    if (pending_.size() >= kPieceBytes) flush();
  }
  void commit() {
    flush();
    file_.commit(AtomicFile::Durable::kLater);
  }

 private:
  static constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

  void flush() {
    file_.write(std::string_view(pending_));
    written_ += pending_.size();
    pending_.clear();
  }

  AtomicFile file_;
  std::string pending_;
  std::uint64_t written_ = 0;
};

}  // namespace paceline
