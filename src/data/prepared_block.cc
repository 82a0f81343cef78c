#include "data/prepared_block.h"

#include <algorithm>

#include "base/error.h"

namespace paceline {
namespace {

template <typename Id>
struct RowSight {
  Id largest = 0;
  std::uint32_t tokens = 0;
  bool is_padded = true;  // at its end alone
};

// Masks in place of branches, and nothing wider than an id, so that the compiler makes vectors of
// it: it looks at every number of the file.
template <typename Id>
RowSight<Id> look_at(std::span<const Id> row) {
  Id largest = row[0];
  auto padding = static_cast<Id>(row[0] == 0);
  Id behind = 0;  // bits of numbers that follow padding
  for (std::size_t i = 1; i < row.size(); ++i) {
    largest = largest > row[i] ? largest : row[i];
    padding = static_cast<Id>(padding + static_cast<Id>(row[i] == 0));
    const auto after = static_cast<Id>(-static_cast<Id>(row[i - 1] == 0));
    behind = static_cast<Id>(behind | (row[i] & after));
  }
  // The longest rows may have more padding than an id can count, but then they have nothing else.
  const auto tokens = largest == 0 ? 0 : static_cast<std::uint32_t>(row.size() - padding);
  return {largest, tokens, behind == 0};
}

template <typename Id>
class Packer {
 public:
  Packer(const IdTable& table, const RowRules& rules, Range rows, const std::byte* ids)
      : table_(table), rules_(rules), rows_(rows), ids_(reinterpret_cast<const Id*>(ids)) {}

  PreparedBlock pack(std::span<const std::uint64_t> chosen) {
    PreparedBlock block;
    std::vector<std::uint32_t> tokens;  // of the chosen rows, before they are cut
    std::vector<std::uint32_t> numbers;
    std::uint32_t words = 0;
    for (std::uint32_t i = 0; i < rows_.size(); ++i) {
      const std::uint32_t count = checked(i);
      if (!chosen.empty() && ((chosen[i / 64] >> (i % 64)) & 1) == 0) continue;
      numbers.push_back(i);
      tokens.push_back(count);
      block.starts.push_back(words);
      words += 1 + std::min(count, rules_.length);
    }
    block.starts.push_back(words);
    block.words = Buffer(words * sizeof(std::int32_t));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      copy(row(numbers[i]).first(tokens[i]), block.words, block.starts[i]);
    }
    return block;
  }

 private:
  std::span<const Id> row(std::uint64_t number) const {
    return {ids_ + number * table_.length, table_.length};
  }

  std::uint32_t checked(std::uint64_t number) const {
    const RowSight<Id> sight = look_at(row(number));
    if (sight.largest >= rules_.numbers) refuse_number(number);
    if (sight.is_padded) return sight.tokens;
    table_.refuse(fmt::format("row {} of '{}' has words behind its padding, which goes to the end",
                              rows_.begin + number, table_.name));
  }

  [[noreturn]] void refuse_number(std::uint64_t number) const {
    const auto wrong =
        std::ranges::find_if(row(number), [this](Id id) { return id >= rules_.numbers; });
    table_.refuse(fmt::format("row {} of '{}' has the number {}, and there are {} words",
                              rows_.begin + number, table_.name, static_cast<std::int32_t>(*wrong),
                              rules_.numbers - Vocabulary::kFirstWord));
  }

  void copy(std::span<const Id> tokens, Buffer& words, std::uint32_t start) const {
    if (tokens.size() > rules_.length) {
      tokens =
          rules_.cut == TextCut::kStart ? tokens.last(rules_.length) : tokens.first(rules_.length);
    }
    auto* out = reinterpret_cast<std::int32_t*>(words.data()) + start;
    *out++ = static_cast<std::int32_t>(tokens.size());
    for (std::size_t i = 0; i < tokens.size(); ++i) out[i] = static_cast<std::int32_t>(tokens[i]);
  }

  const IdTable& table_;
  const RowRules& rules_;
  Range rows_;
  const Id* ids_;  // [rows, length]; a negative number is one that is too large
};

}  // namespace

PreparedBlock read_block(const PreparedIds& ids, std::uint64_t block, const RowRules& rules,
                         std::span<const std::uint64_t> chosen) {
  const IdTable& table = ids.table();
  thread_local Buffer bytes;
  bytes.resize(table.block_bytes());
  ids.read(block, bytes.bytes());
  const Range rows = table.rows_of(block);
  if (table.bytes == 2) return Packer<std::uint16_t>(table, rules, rows, bytes.data()).pack(chosen);
  return Packer<std::uint32_t>(table, rules, rows, bytes.data()).pack(chosen);
}

}  // namespace paceline
