// Any bytes as a checkpoint: a DataError, or a head that reads back the same when it is written
// again, and as many numbers as it promises.
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/format.h"
#include "fuzz/fuzz_target.h"

namespace paceline {
namespace checkpoint_fuzzer {

namespace format = checkpoint_format;

std::span<const std::byte> as_bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

void check_head(const CheckpointInfo& info) {
  const std::string head = format::encode_head("again", info);
  require(head.size() % format::kAlignment == 0);
  const auto bytes = as_bytes_of(head);
  require(format::head_bytes("again", bytes.first(format::kPreambleBytes)) == head.size());
  require(format::encode_head("again", format::decode_head("again", bytes).info) == head);
}

void run(FuzzBytes bytes) {
  const BytesFile file(bytes);
  accepts<DataError>([&] {
    const CheckpointReader reader(file.path());
    const CheckpointInfo& info = reader.info();
    require(info.layout.size * (info.slots + 1) * sizeof(float) <= bytes.size());
    check_head(info);
    const bool whole = accepts<DataError>([&] { reader.verify(); });
    std::vector<float> numbers(info.layout.size);
    bool read = true;
    for (std::uint64_t vector = 0; vector <= info.slots; ++vector) {
      read &= accepts<DataError>([&] { reader.read(vector, {0, numbers.size()}, numbers); });
    }
    require(read == whole);
  });
}

void put(std::span<std::uint8_t> data, std::uint64_t at, std::uint64_t value) {
  std::memcpy(data.data() + at, &value, sizeof value);
}

// Magic and version; then the checksums of the head, of the blocks and of their table, as far as
// they are where the head says.
void seal(std::span<std::uint8_t> data) {
  if (data.size() < format::kPreambleBytes) return;
  std::memcpy(data.data(), format::kMagic.data(), format::kMagic.size());
  std::memcpy(data.data() + format::kMagic.size(), &format::kVersion, sizeof format::kVersion);
  const auto bytes = std::as_writable_bytes(data);
  try {
    const std::uint64_t head = format::head_bytes("", bytes.first(format::kPreambleBytes));
    if (head > data.size()) return;
    put(data, head - 8, format::checksum(bytes.first(head - 8)));
    const CheckpointSections sections = format::decode_head("", bytes.first(head)).sections;
    if (sections.file_bytes() != data.size()) return;
    for (std::uint64_t i = 0; i < sections.blocks(); ++i) {
      const auto block = bytes.subspan(sections.offset_of(i), sections.block(i).size() * 4);
      put(data, sections.table_offset() + 8 * i, format::checksum(block));
    }
    const auto table = bytes.subspan(sections.table_offset(), 8 * sections.blocks());
    put(data, sections.table_offset() + table.size(), format::checksum(table));
  } catch (const DataError&) {
  }
}

}  // namespace checkpoint_fuzzer

const FuzzTarget kCheckpointFuzzer{"checkpoint", checkpoint_fuzzer::run, checkpoint_fuzzer::seal};

}  // namespace paceline
