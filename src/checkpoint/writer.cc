#include <algorithm>
#include <system_error>

#include "base/buffer.h"
#include "base/error.h"
#include "base/file/file.h"
#include "base/file/lock.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/format.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
namespace format = checkpoint_format;

// While the lock is held nobody else writes here: what is unfinished stays so.
void remove_unfinished(const fs::path& folder) {
  std::error_code ignored;
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("step-") && name.ends_with(".ckpt.partial")) found.push_back(entry.path());
  }
  for (const fs::path& path : found) fs::remove(path, ignored);
}

// Fills `out` with the floats `part` of all vectors laid one behind the other.
void fill_block(const Fill& fill, std::uint64_t vector_size, Range part, std::span<float> out) {
  while (!part.empty()) {
    const std::uint64_t first = part.begin % vector_size;
    const std::uint64_t length = std::min(part.size(), vector_size - first);
    fill(part.begin / vector_size, {first, first + length}, out.first(length));
    part.begin += length;
    out = out.subspan(length);
  }
}

}  // namespace

void write_checkpoint(const fs::path& path, const CheckpointInfo& info, const Fill& fill) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  create_folders(folder);
  // Where there are no locks one process writes all the same, the run's chief; only nothing can be
  // said of files that look unfinished.
  const FileLock lock = FileLock::wait(folder);
  if (lock.held()) remove_unfinished(folder);

  const std::string head = format::encode_head(path, info);
  const CheckpointSections sections = format::sections(info, head.size());
  AtomicFile file(path);
  file.write(head);
  Buffer block(std::min(sections.block_floats, sections.floats) * sizeof(float));
  std::vector<std::uint64_t> checksums;
  for (std::uint64_t i = 0; i < sections.blocks(); ++i) {
    const Range part = sections.block(i);
    const std::span<float> numbers = block.as_floats().first(part.size());
    fill_block(fill, info.layout.size, part, numbers);
    checksums.push_back(format::checksum(std::as_bytes(numbers)));
    file.write(std::as_bytes(numbers));
    file.settle();
  }
  const auto table = std::as_bytes(std::span(checksums));
  const std::uint64_t table_checksum = format::checksum(table);
  file.write(table);
  file.write(std::as_bytes(std::span(&table_checksum, 1)));
  file.commit();
}

}  // namespace paceline
