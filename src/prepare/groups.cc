#include "prepare/groups.h"

#include <fstream>

#include "base/error.h"
#include "prepare/sliced_file.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kRowsPerMark = 1024;
constexpr std::uint64_t kGroupMagic = 0x3450524745434150;  // "PACEGRP4"

struct GroupFoot {  // the last bytes of the file; the marks are before it
  std::uint64_t rows = 0;
  std::uint64_t end = 0;  // of the rows
  std::uint64_t magic = kGroupMagic;
};

}  // namespace

void GroupWriter::add(const GroupedReview& review) {
  if (rows_ % kRowsPerMark == 0) marks_.push_back({file_.size(), 0});
  const auto head = static_cast<std::uint32_t>(2 * review.words.size() + review.label);
  const std::uint64_t begin = file_.size();
  file_.add_items(&head, 1);
  file_.add_items(review.words.data(), review.words.size());
  ++rows_;
  marks_.back().checksum += checksum_of_record(file_.since(begin));
  file_.end_item();
}

void GroupWriter::commit() {
  const GroupFoot foot{rows_, file_.size(), kGroupMagic};
  file_.add_items(marks_.data(), marks_.size());
  file_.add_items(&foot, 1);
  file_.commit();
}

// Rows from one mark to the next are in memory.
struct GroupReader::Impl {
  fs::path path;
  std::ifstream file;
  GroupFoot foot;
  std::vector<GroupMark> marks;  // and the end of the rows
  std::uint64_t checksum = 0;    // of the rows since the mark, so far
  std::uint64_t row = 0;
  std::vector<std::uint32_t> numbers;
  std::size_t at = 0;  // in these

  [[noreturn]] void fail() const {
    throw DataError("{} is damaged: begin anew with --fresh", path.string());
  }
  void read(void* into, std::size_t count) {
    if (!file.read(static_cast<char*>(into), static_cast<std::streamsize>(count))) fail();
  }
  void load(std::uint64_t mark) {
    const std::uint64_t begin = marks[mark].begin;
    const std::uint64_t behind = marks[mark + 1].begin;
    const bool whole = (behind - begin) % sizeof(std::uint32_t) == 0;
    if (behind < begin || behind > foot.end || !whole) fail();
    checksum = 0;
    numbers.resize((behind - begin) / sizeof(std::uint32_t));
    at = 0;
    file.seekg(static_cast<std::streamoff>(begin));
    read(numbers.data(), numbers.size() * sizeof(std::uint32_t));
  }
};

GroupReader::GroupReader(const fs::path& path) : impl_(std::make_unique<Impl>()) {
  impl_->path = path;
  impl_->file.open(path, std::ios::binary);
  impl_->file.seekg(-static_cast<std::streamoff>(sizeof(GroupFoot)), std::ios::end);
  const std::streamoff foot_at = impl_->file.tellg();
  impl_->read(&impl_->foot, sizeof(GroupFoot));
  const std::uint64_t rows = impl_->foot.rows;
  const std::uint64_t marks = rows / kRowsPerMark + (rows % kRowsPerMark > 0 ? 1 : 0);
  if (impl_->foot.magic != kGroupMagic || marks > static_cast<std::uint64_t>(foot_at) ||
      impl_->foot.end + marks * sizeof(GroupMark) != static_cast<std::uint64_t>(foot_at)) {
    impl_->fail();
  }
  impl_->marks.resize(marks);
  impl_->file.seekg(static_cast<std::streamoff>(impl_->foot.end));
  impl_->read(impl_->marks.data(), marks * sizeof(GroupMark));
  impl_->marks.push_back({impl_->foot.end, 0});
  if (impl_->marks.front().begin != 0 && rows > 0) impl_->fail();
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
  if (row % kRowsPerMark == 0) return;  // next() loads it
  GroupedReview skipped;
  while (impl_->row < row) next(skipped);
}

bool GroupReader::next(GroupedReview& review) {
  Impl& my = *impl_;
  if (my.row == my.foot.rows) return false;
  const std::uint64_t mark = my.row / kRowsPerMark;
  if (my.row % kRowsPerMark == 0) my.load(mark);
  const auto left = std::span<const std::uint32_t>(my.numbers).subspan(my.at);
  if (left.empty() || left[0] / 2 > left.size() - 1) my.fail();
  const std::uint32_t head = left[0];
  const auto row = left.first(1 + head / 2);
  my.checksum += checksum_of_record({reinterpret_cast<const char*>(row.data()), row.size_bytes()});
  my.at += row.size();
  ++my.row;
  const bool last = my.row % kRowsPerMark == 0 || my.row == my.foot.rows;
  if (last && (my.at != my.numbers.size() || my.checksum != my.marks[mark].checksum)) my.fail();
  review.label = static_cast<std::uint8_t>(head % 2);
  review.words = row.subspan(1);
  return true;
}

}  // namespace paceline
