#include "prepare/groups.h"

#include <fstream>
#include <string>

#include "base/error.h"
#include "prepare/sliced_file.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kRowsPerMark = 1024;
constexpr std::uint64_t kGroupMagic = 0x3350524745434150;  // "PACEGRP3"

struct GroupFoot {  // the last bytes of the file; the marks are before it
  std::uint64_t rows = 0;
  std::uint64_t end = 0;  // of the rows
  std::uint64_t magic = kGroupMagic;
};

}  // namespace

// Seven bits a byte, the lowest first; all bytes but the last have the highest bit set.
void GroupWriter::add_number(std::uint32_t number) {
  for (; number >= 128; number >>= 7) file_.add_byte(number | 128);
  file_.add_byte(number);
}

void GroupWriter::add(const GroupedReview& review) {
  if (rows_ % kRowsPerMark == 0) marks_.push_back({file_.size(), 0});
  const std::uint64_t begin = file_.size();
  add_number(static_cast<std::uint32_t>(2 * review.words.size() + review.label));
  for (const std::uint32_t word : review.words) add_number(word);
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
  std::string bytes;
  const unsigned char* at = nullptr;
  const unsigned char* end = nullptr;
  std::vector<std::uint32_t> words;

  [[noreturn]] void fail() const {
    throw DataError("{} is damaged: begin anew with --fresh", path.string());
  }
  void read(void* into, std::size_t count) {
    if (!file.read(static_cast<char*>(into), static_cast<std::streamsize>(count))) fail();
  }
  void load(std::uint64_t mark) {
    const std::uint64_t begin = marks[mark].begin;
    const std::uint64_t behind = marks[mark + 1].begin;
    if (behind < begin || behind > foot.end) fail();
    checksum = 0;
    bytes.resize(behind - begin);
    file.seekg(static_cast<std::streamoff>(begin));
    read(bytes.data(), bytes.size());
    at = reinterpret_cast<const unsigned char*>(bytes.data());
    end = at + bytes.size();
  }
  std::uint32_t number() {
    std::uint32_t value = 0;
    for (unsigned shift = 0; at < end && shift < 32; shift += 7) {
      const unsigned char byte = *at++;
      value |= static_cast<std::uint32_t>(byte & 127) << shift;
      if (byte < 128) return value;
    }
    fail();
  }
};

GroupReader::GroupReader(const fs::path& path) : impl_(std::make_unique<Impl>()) {
  impl_->path = path;
  impl_->file.open(path, std::ios::binary);
  impl_->file.seekg(-static_cast<std::streamoff>(sizeof(GroupFoot)), std::ios::end);
  const std::streamoff foot_at = impl_->file.tellg();
  impl_->read(&impl_->foot, sizeof(GroupFoot));
  const std::uint64_t marks = (impl_->foot.rows + kRowsPerMark - 1) / kRowsPerMark;
  if (impl_->foot.magic != kGroupMagic ||
      impl_->foot.end + marks * sizeof(GroupMark) != static_cast<std::uint64_t>(foot_at)) {
    impl_->fail();
  }
  impl_->marks.resize(marks);
  impl_->file.seekg(static_cast<std::streamoff>(impl_->foot.end));
  impl_->read(impl_->marks.data(), marks * sizeof(GroupMark));
  impl_->marks.push_back({impl_->foot.end, 0});
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
  const unsigned char* const begin = my.at;
  const std::uint32_t head = my.number();
  if (head / 2 > static_cast<std::uint64_t>(my.end - my.at)) my.fail();
  my.words.resize(head / 2);
  for (std::uint32_t& word : my.words) word = my.number();
  my.checksum += checksum_of_record(
      {reinterpret_cast<const char*>(begin), static_cast<std::size_t>(my.at - begin)});
  ++my.row;
  const bool last = my.row % kRowsPerMark == 0 || my.row == my.foot.rows;
  if (last && my.checksum != my.marks[mark].checksum) my.fail();
  review.label = static_cast<std::uint8_t>(head % 2);
  review.words = my.words;
  return true;
}

}  // namespace paceline
