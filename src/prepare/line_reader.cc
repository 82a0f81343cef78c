#include "prepare/line_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "data/gzip.h"
#include "data/zstd.h"
#include "prepare/columns.h"
#include "prepare/piped_text.h"

namespace paceline {
namespace {

constexpr std::size_t kFirstRoom = std::size_t{1} << 20;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

}  // namespace

LineReader::LineReader(const InputFile& file, const Portion& portion)
    : file_(file),
      portion_(portion),
      in_portions_(!file.compressed && !file.piped()),
      names_follow_(file.header && portion.begin == 0),
      room_(kFirstRoom),
      buffer_(new char[room_ + kPadding]),
      at_(buffer_.get()),
      end_(buffer_.get()) {
  const auto read_from = [this](auto reader) {
    read_ = [reader](std::span<std::byte> into) { return reader->read(into); };
    stored_ = [reader] { return reader->consumed(); };
  };
  if (file.piped()) {
    read_from(file.pipe);
  } else if (file.compressed && ZstdReader::is_one(file.path)) {
    read_from(std::make_shared<ZstdReader>(file.path));
  } else if (file.compressed) {
    read_from(std::make_shared<GzipReader>(file.path));
  } else {
    open_portion();
  }
}

void LineReader::open_portion() {
  const auto open = std::make_shared<Descriptor>(::open(file_.path.c_str(), O_RDONLY | O_CLOEXEC));
  const auto fail = [path = file_.path] {
    throw DataError("cannot read {}: {}", path.string(), errno_text(errno));
  };
  if (open->number() < 0) fail();
  // One byte earlier, to see whether a line begins at the very beginning.
  if (portion_.begin > 0) {
    offset_ = portion_.begin - 1;
    if (::lseek(open->number(), static_cast<off_t>(offset_), SEEK_SET) < 0) fail();
  }
  read_ = [open, fail](std::span<std::byte> into) {
    std::size_t filled = 0;
    while (filled < into.size()) {
      const ssize_t got = ::read(open->number(), into.data() + filled, into.size() - filled);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail();
      if (got == 0) break;
      filled += static_cast<std::size_t>(got);
    }
    return filled;
  };
  if (portion_.begin > 0) {  // it began before, and counts there
    next_of_all();
    too_long_ = 0;
  }
}

std::uint64_t LineReader::consumed() const {
  return stored_ ? stored_() : offset_;
}

std::optional<std::string_view> LineReader::next() {
  bool at_start = offset_ == 0;
  if (at_start && fill()) skip_byte_order_mark();
  while (true) {
    // A byte order mark is a part of the first line: portions know nothing of it.
    const std::uint64_t begin =
        std::exchange(at_start, false) ? 0 : offset_ - static_cast<std::uint64_t>(end_ - at_);
    if (in_portions_ && begin >= portion_.end) return std::nullopt;
    std::optional<std::string_view> line = next_of_all();
    if (!line) return line;
    if (line->find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (!std::exchange(names_follow_, false)) return line;
  }
}

std::optional<std::string_view> LineReader::next_of_all() {
  const char* found = end_of_line();
  while (found == nullptr) {
    const auto bytes = static_cast<std::size_t>(end_ - at_);
    if (bytes > kMostLineBytes) {
      skip_long_line();
      return std::string_view();  // the next one may be of another portion
    }
    if (!fill()) {  // the last line may lack its end
      if (at_ == end_) return std::nullopt;
      found = end_of_line();
      if (found == nullptr) found = end_;
      break;
    }
    found = end_of_line();
  }
  std::string_view line(at_, static_cast<std::size_t>(found - at_));
  at_ = std::min(found + 1, end_);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (line.size() <= kMostLineBytes) return line;
  ++too_long_;
  return std::string_view();
}

// A quote that is not closed within the longest line, or at all, is that of one line: the next ones
// are what they seem to be.
const char* LineReader::end_of_line() const {
  const std::string_view text(at_, static_cast<std::size_t>(end_ - at_));
  if (file_.format == ReviewFormat::kCsv) {
    const std::string_view longest = text.substr(0, kMostLineBytes + 1);
    const std::size_t end = end_of_csv_line(longest);
    if (end == longest.size()) return nullptr;
    if (end != std::string_view::npos) return at_ + end;
    if (!over_ && text.size() <= kMostLineBytes) return nullptr;  // it may be closed yet
  }
  const std::size_t end = text.find('\n');
  return end == std::string_view::npos ? nullptr : at_ + end;
}

// Moves what is left to the front and reads behind it. False: there is nothing more.
bool LineReader::fill() {
  if (over_) return false;
  const auto left = static_cast<std::size_t>(end_ - at_);
  if (left * 2 > room_) {
    room_ *= 2;
    std::unique_ptr<char[]> larger(new char[room_ + kPadding]);
    std::memcpy(larger.get(), at_, left);
    buffer_ = std::move(larger);
  } else {
    std::memmove(buffer_.get(), at_, left);
  }
  const std::size_t got =
      read_(std::as_writable_bytes(std::span(buffer_.get() + left, room_ - left)));
  over_ = got < room_ - left;
  offset_ += got;
  at_ = buffer_.get();
  end_ = at_ + left + got;
  std::memset(buffer_.get() + left + got, 0, kPadding);
  return got > 0;
}

void LineReader::skip_long_line() {
  ++too_long_;
  at_ += kMostLineBytes;  // it does not end before
  const char* found = nullptr;
  while ((found = static_cast<const char*>(
              std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_)))) == nullptr) {
    at_ = end_;
    if (!fill()) return;
  }
  at_ = found + 1;
}

void LineReader::skip_byte_order_mark() {
  const std::string_view text(at_, static_cast<std::size_t>(end_ - at_));
  if (text.starts_with(kByteOrderMark)) at_ += kByteOrderMark.size();
}

}  // namespace paceline
