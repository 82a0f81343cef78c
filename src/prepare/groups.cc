#include "prepare/groups.h"

#include <cstring>
#include <fstream>

#include "base/error.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kRowsPerMark = 1024;
constexpr std::size_t kWriteBytes = std::size_t{1} << 20;
constexpr std::uint64_t kMagic = 0x3150524745434150;  // "PACEGRP1"

struct RowHead {
  std::uint32_t bytes;
  std::uint32_t label;
};
struct Foot {  // the last bytes of the file; the marks are before it
  std::uint64_t rows = 0;
  std::uint64_t end = 0;  // of the rows
  std::uint64_t magic = kMagic;
};

template <typename Item>
void append(std::string& bytes, const Item* items, std::size_t count) {
  bytes.append(reinterpret_cast<const char*>(items), count * sizeof(Item));
}

}  // namespace

GroupWriter::GroupWriter(const fs::path& path) : file_(path) {}

void GroupWriter::add(const GroupedReview& review) {
  if (rows_ % kRowsPerMark == 0) marks_.push_back(written_ + pending_.size());
  const RowHead head{static_cast<std::uint32_t>(review.words.size()), review.label};
  append(pending_, &head, 1);
  pending_ += review.words;
  ++rows_;
  if (pending_.size() >= kWriteBytes) flush();
}

void GroupWriter::flush() {
  file_.write(std::string_view(pending_));
  written_ += pending_.size();
  pending_.clear();
}

void GroupWriter::commit() {
  const Foot foot{rows_, written_ + pending_.size(), kMagic};
  append(pending_, marks_.data(), marks_.size());
  append(pending_, &foot, 1);
  flush();
  file_.commit(AtomicFile::Durable::kLater);
}

struct GroupReader::Impl {
  fs::path path;
  std::ifstream file;
  Foot foot;
  std::vector<std::uint64_t> marks;
  std::uint64_t row = 0;
  std::string words;

  [[noreturn]] void fail() const {
    throw DataError("{} is damaged: begin anew with --fresh", path.string());
  }
  void read(void* into, std::size_t bytes) {
    if (!file.read(static_cast<char*>(into), static_cast<std::streamsize>(bytes))) fail();
  }
};

GroupReader::GroupReader(const fs::path& path) : impl_(std::make_unique<Impl>()) {
  impl_->path = path;
  impl_->file.open(path, std::ios::binary);
  impl_->file.seekg(-static_cast<std::streamoff>(sizeof(Foot)), std::ios::end);
  impl_->read(&impl_->foot, sizeof(Foot));
  if (impl_->foot.magic != kMagic) impl_->fail();
  impl_->marks.resize((impl_->foot.rows + kRowsPerMark - 1) / kRowsPerMark);
  impl_->file.seekg(static_cast<std::streamoff>(impl_->foot.end));
  impl_->read(impl_->marks.data(), impl_->marks.size() * sizeof(std::uint64_t));
  seek(0);
}

GroupReader::~GroupReader() = default;

std::uint64_t GroupReader::rows() const {
  return impl_->foot.rows;
}

void GroupReader::seek(std::uint64_t row) {
  PACELINE_CHECK(row <= impl_->foot.rows);
  const std::uint64_t mark = row / kRowsPerMark;
  impl_->row = mark * kRowsPerMark;
  if (mark == impl_->marks.size()) return;
  impl_->file.seekg(static_cast<std::streamoff>(impl_->marks[mark]));
  GroupedReview skipped;
  while (impl_->row < row) next(skipped);
}

bool GroupReader::next(GroupedReview& review) {
  if (impl_->row == impl_->foot.rows) return false;
  RowHead head{};
  impl_->read(&head, sizeof head);
  impl_->words.resize(head.bytes);
  impl_->read(impl_->words.data(), head.bytes);
  ++impl_->row;
  review.label = static_cast<std::uint8_t>(head.label);
  review.words = impl_->words;
  return true;
}

}  // namespace paceline
