#include "prepare/piped_text.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "data/gzip.h"
#include "data/zstd.h"
#include "prepare/columns.h"

namespace paceline {
namespace {

constexpr const char* kName = "standard input";

// As much of `from` as there is room for.
std::size_t give(std::string_view from, std::span<std::byte> into) {
  const std::size_t bytes = std::min(from.size(), into.size());
  if (bytes > 0) std::memcpy(into.data(), from.data(), bytes);
  return bytes;
}

}  // namespace

PipedText::PipedText(int file, const StopFlag& stop) : file_(file), stop_(stop), text_(open()) {}

ByteSource PipedText::open() {
  std::array<std::byte, 4> some{};
  while (magic_.size() < some.size()) {
    const std::size_t got = from_pipe(std::span(some).first(some.size() - magic_.size()));
    if (got == 0) break;
    magic_.append(reinterpret_cast<const char*>(some.data()), got);
  }
  ByteSource source = [this](std::span<std::byte> into) { return stored(into); };
  if (GzipStream::has_magic(magic_)) {
    const auto stream = std::make_shared<GzipStream>(std::move(source), kName);
    return [stream](std::span<std::byte> into) { return stream->read(into); };
  }
  if (ZstdReader::has_magic(magic_)) {
    const auto stream = std::make_shared<ZstdReader>(std::move(source), kName);
    return [stream](std::span<std::byte> into) { return stream->read(into); };
  }
  return source;
}

std::size_t PipedText::from_pipe(std::span<std::byte> into) {
  constexpr int kLookMilliseconds = 100;
  pollfd input{file_, POLLIN, 0};
  while (true) {
    throw_if_stopped(stop_);
    const int ready = ::poll(&input, 1, kLookMilliseconds);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t got = ::read(file_, into.data(), into.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw DataError("cannot read {}: {}", kName, errno_text(errno));
    consumed_ += static_cast<std::size_t>(got);
    return static_cast<std::size_t>(got);
  }
}

std::size_t PipedText::stored(std::span<std::byte> into) {
  if (magic_.empty()) return from_pipe(into);
  const std::size_t bytes = give(magic_, into);
  magic_.erase(0, bytes);
  return bytes;
}

std::string_view PipedText::first_line(bool csv) {
  constexpr std::size_t kMost = std::size_t{1} << 20;
  std::array<std::byte, 4096> some{};
  while (true) {
    std::string_view text = start_;
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    const std::size_t end = csv ? end_of_csv_line(text) : std::min(text.find('\n'), text.size());
    const bool there = end < text.size() || start_.size() >= kMost;
    const std::size_t got = there ? 0 : text_(some);
    if (got == 0) {
      text = text.substr(0, end);
      if (text.ends_with('\r')) text.remove_suffix(1);
      return text;
    }
    start_.append(reinterpret_cast<const char*>(some.data()), got);
  }
}

std::size_t PipedText::read(std::span<std::byte> into) {
  std::size_t filled = give(std::string_view(start_).substr(given_), into);
  given_ += filled;
  while (filled < into.size()) {
    const std::size_t got = text_(into.subspan(filled));
    if (got == 0) break;
    filled += got;
  }
  return filled;
}

}  // namespace paceline
