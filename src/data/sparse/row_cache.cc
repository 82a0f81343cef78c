#include "data/sparse/row_cache.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/xxh3.h"
#include "data/sparse/hot_keys.h"
#include "data/sparse/row_bounds.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::uint64_t kSampleRows = 16'384;

struct Head {
  std::array<char, 8> magic = {'P', 'A', 'C', 'E', 'R', 'O', 'W', 'S'};
  std::uint32_t version = 1;
  std::uint32_t byte_order = 0x01020304;

  bool operator==(const Head&) const = default;
};
struct BlockEntry {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;
};
struct Foot {              // the last bytes of the file
  std::uint64_t tail = 0;  // where it begins
  std::uint64_t blocks = 0;
  std::uint64_t hot = 0;
  std::uint64_t text = 0;      // bytes of JSON
  std::uint64_t checksum = 0;  // of the tail
};

std::uint64_t checksum(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

template <typename Item>
void append(std::string& bytes, std::span<const Item> items) {
  bytes.append(reinterpret_cast<const char*>(items.data()), items.size_bytes());
}

}  // namespace

// ---- writing -----------------------------------------------------------------------------

struct RowCacheWriter::Impl {
  explicit Impl(const fs::path& path) : file(path) { put(std::as_bytes(std::span(&head, 1))); }

  // Rows are kept back until the hot keys are known.
  void add(const std::uint32_t* row) {
    const RowView view = row_at(row);
    ++info.rows;
    info.keys += view.keys.size();
    info.positive += view.label > 0 ? 1 : 0;
    if (hot) {
      append_row(view, row);
    } else {
      first.starts.push_back(first.words.size());
      first.words.insert(first.words.end(), row, end_of(view));
      if (first.starts.size() == kSampleRows) settle_hot_keys();
    }
  }

  void settle_hot_keys() {
    std::vector<Key> sample;
    for (const std::size_t start : first.starts) {
      const RowView view = row_at(first.words.data() + start);
      sample.insert(sample.end(), view.keys.begin(), view.keys.end());
    }
    hot.emplace(most_frequent_keys(std::move(sample)));
    for (const std::size_t start : first.starts) {
      const std::uint32_t* row = first.words.data() + start;
      append_row(row_at(row), row);
    }
    first = {};
  }

  void append_row(const RowView& view, const std::uint32_t* row) {
    const std::size_t start = block.size();
    block[in_block++] = static_cast<std::uint32_t>(start);
    block.resize(start + row_words(view.keys.size(), view.values.size()));
    std::uint32_t* at = std::copy_n(row, kRowHead, block.data() + start);
    for (const Key key : view.keys) *at++ = hot->in_list(key);
    std::copy(view.keys.data() + view.keys.size(), end_of(view), at);
    if (in_block == kRowsPerBlock) end_block();
  }

  void end_block() {
    if (in_block == 0) return;
    const auto bytes = std::as_bytes(std::span(block));
    entries.push_back({written, bytes.size(), checksum(bytes)});
    put(bytes);
    block.assign(kRowsPerBlock, 0);
    in_block = 0;
  }

  static const std::uint32_t* end_of(const RowView& view) {
    return view.keys.data() + view.keys.size() + view.values.size();
  }

  void put(std::span<const std::byte> bytes) {
    file.write(bytes);
    written += bytes.size();
  }

  void commit() {
    if (!hot) settle_hot_keys();
    end_block();
    const Json json = {{"source", info.source},     {"bits", info.bits},
                       {"rows", info.rows},         {"keys", info.keys},
                       {"positive", info.positive}, {"bad_lines", info.bad_lines}};
    std::string tail;
    append(tail, std::span<const BlockEntry>(entries));
    append(tail, std::span<const Key>(hot->keys()));
    const std::string text = json.dump();
    tail += text;
    const Foot foot{written, entries.size(), hot->keys().size(), text.size(),
                    checksum(std::as_bytes(std::span(tail)))};
    put(std::as_bytes(std::span(tail)));
    put(std::as_bytes(std::span(&foot, 1)));
    file.commit(AtomicFile::Durable::kLater);
  }

  Head head;
  AtomicFile file;
  RowCacheInfo info;
  std::uint64_t written = 0;
  std::vector<BlockEntry> entries;
  RowBuffer first;  // the rows that show which keys are hot
  std::optional<HotKeys> hot;
  std::uint64_t in_block = 0;  // rows of the open block
  std::vector<std::uint32_t> block = std::vector<std::uint32_t>(kRowsPerBlock);
};

RowCacheWriter::RowCacheWriter(const fs::path& path) : impl_(std::make_unique<Impl>(path)) {}
RowCacheWriter::~RowCacheWriter() = default;

void RowCacheWriter::add(const RowBuffer& rows) {
  for (const std::size_t start : rows.starts) impl_->add(rows.words.data() + start);
}

void RowCacheWriter::commit(RowCacheInfo info) {
  info.rows = impl_->info.rows;
  info.keys = impl_->info.keys;
  info.positive = impl_->info.positive;
  impl_->info = std::move(info);
  impl_->commit();
}

// ---- reading -----------------------------------------------------------------------------

bool begins_as_row_cache(const fs::path& path) {
  std::array<char, sizeof Head::magic> magic{};
  std::ifstream file(path, std::ios::binary);
  return file.read(magic.data(), magic.size()) && magic == Head().magic;
}

RowCache::RowCache(const fs::path& path) : path_(path), file_(path) {
  const std::span<const std::byte> bytes = file_.bytes();
  Head head;
  if (bytes.size() < sizeof(Head) + sizeof(Foot)) fail("it is too short");
  std::memcpy(&head, bytes.data(), sizeof head);
  const Head expected;
  if (head.magic != expected.magic) fail("it is no cache of rows");
  if (head.byte_order != expected.byte_order) fail("it was written on another kind of machine");
  if (head.version != expected.version) {
    fail(
        fmt::format("it has format {}, and this program reads {}", head.version, expected.version));
  }
  Foot foot;
  const std::uint64_t foot_at = bytes.size() - sizeof foot;
  std::memcpy(&foot, bytes.data() + foot_at, sizeof foot);
  if (foot.tail > foot_at || foot.blocks > foot_at / sizeof(BlockEntry) ||
      foot.hot > kMostHotKeys || foot.text > foot_at ||
      foot.tail + foot.blocks * sizeof(BlockEntry) + foot.hot * sizeof(Key) + foot.text !=
          foot_at ||
      checksum(bytes.subspan(foot.tail, foot_at - foot.tail)) != foot.checksum) {
    fail("its end is damaged");
  }
  const std::byte* at = bytes.data() + foot.tail;
  std::uint64_t end = sizeof(Head);
  for (std::uint64_t i = 0; i < foot.blocks; ++i, at += sizeof(BlockEntry)) {
    BlockEntry entry;
    std::memcpy(&entry, at, sizeof entry);
    if (entry.offset != end || entry.bytes % sizeof(std::uint32_t) != 0 ||
        entry.bytes > foot.tail - entry.offset) {
      fail("its blocks are not where they should be");
    }
    end = entry.offset + entry.bytes;
    blocks_.push_back({reinterpret_cast<const std::uint32_t*>(bytes.data() + entry.offset),
                       entry.bytes, entry.checksum});
  }
  hot_.resize(foot.hot);
  if (foot.hot > 0) std::memcpy(hot_.data(), at, foot.hot * sizeof(Key));
  at += foot.hot * sizeof(Key);
  const char* text = reinterpret_cast<const char*>(at);
  const Json json = Json::parse(text, text + foot.text, nullptr, false);
  try {
    info_.source = json.at("source").get<std::string>();
    info_.bits = json.at("bits").get<std::uint32_t>();
    info_.rows = json.at("rows").get<std::uint64_t>();
    info_.keys = json.at("keys").get<std::uint64_t>();
    info_.positive = json.at("positive").get<std::uint64_t>();
    info_.bad_lines = json.at("bad_lines").get<std::uint64_t>();
  } catch (const Json::exception&) {
    fail("its end makes no sense");
  }
  if (info_.rows > blocks_.size() * kRowsPerBlock ||
      (info_.rows + kRowsPerBlock - 1) / kRowsPerBlock != blocks_.size()) {
    fail("it has not as many blocks as its rows need");
  }
  if (info_.bits < 1 || info_.bits > kMostBits) fail("no key has as many bits as it says");
  for (const Key key : hot_) {
    if (key > Key{1} << info_.bits) fail("a hot key has more bits than it says");
  }
  verified_ = std::vector<std::atomic<bool>>(blocks_.size());
}

void RowCache::verify_all() const {
  for (std::uint64_t i = 0; i < blocks_.size(); ++i) verify(i);
}

void RowCache::verify(std::uint64_t block) const {
  const Block& entry = blocks_[block];
  const auto* bytes = reinterpret_cast<const std::byte*>(entry.words);
  if (checksum({bytes, entry.bytes}) != entry.checksum) {
    fail(fmt::format("block {} does not match its checksum", block));
  }
  const std::uint64_t rows = std::min(kRowsPerBlock, info_.rows - block * kRowsPerBlock);
  const KeyBounds bounds{Key{1} << info_.bits, kHotBit - 1 + static_cast<Key>(hot_.size())};
  const std::span words(entry.words, entry.bytes / sizeof(std::uint32_t));
  if (words.size() < kRowsPerBlock || !holds_rows(words, words.first(rows), bounds)) {
    fail(fmt::format("block {} has rows that do not lie in it, or keys that there are not", block));
  }
  verified_[block].store(true, std::memory_order_relaxed);
}

void RowCache::fail(const std::string& how) const {
  throw DataError("{} cannot be used: {}. Remove it: it is made again from the text",
                  path_.string(), how);
}

}  // namespace paceline
