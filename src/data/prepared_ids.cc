#include "data/prepared_ids.h"

#include <libdeflate.h>

#include <array>
#include <optional>
#include <utility>

#include "base/buffer.h"
#include "base/error.h"
#include "data/hdf5.h"

namespace paceline {
namespace {

using hdf5::File;
using hdf5::Properties;
using hdf5::Space;
using hdf5::Table;
using hdf5::Type;

using Inflater = std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)>;

// Fewer rows would be mixed with too few others, and chunks may be of a single one.
constexpr std::uint64_t kFewestBlockRows = 1024;

std::array<hsize_t, 2> shape_of_ids(const Table& ids) {
  std::array<hsize_t, 2> shape{};
  const Space space(H5Dget_space(ids));
  PACELINE_CHECK(H5Sget_simple_extent_ndims(space) == 2);
  H5Sget_simple_extent_dims(space, shape.data(), nullptr);
  return shape;
}

// None when the table is not made of chunks.
std::optional<std::array<hsize_t, 2>> chunk_of(const Properties& made) {
  std::array<hsize_t, 2> chunk{};
  if (H5Pget_layout(made) != H5D_CHUNKED || H5Pget_chunk(made, 2, chunk.data()) != 2) return {};
  return chunk;
}

bool is_deflated_only(const Properties& made) {
  if (H5Pget_nfilters(made) != 1) return false;
  unsigned flags = 0;
  std::size_t values = 0;
  unsigned config = 0;
  return H5Pget_filter2(made, 0, &flags, &values, nullptr, 0, nullptr, &config) ==
         H5Z_FILTER_DEFLATE;
}

}  // namespace

struct PreparedIds::Impl {
  IdTable table;
  File file;
  Table ids;
  std::uint64_t chunk_rows = 1;
  bool is_plain = false;  // once inflated, chunks are as they would be in memory

  hid_t type() const { return table.bytes == 2 ? H5T_NATIVE_UINT16 : H5T_NATIVE_INT32; }

  void describe() {
    const auto shape = shape_of_ids(ids);
    table.rows = shape[0];
    table.length = static_cast<std::uint32_t>(shape[1]);
    const Properties made(H5Dget_create_plist(ids));
    const auto chunk = chunk_of(made);
    if (chunk) chunk_rows = (*chunk)[0];
    table.block_rows = (kFewestBlockRows + chunk_rows - 1) / chunk_rows * chunk_rows;
    const Type stored(H5Dget_type(ids));
    table.bytes = H5Tequal(stored, H5T_NATIVE_UINT16) > 0 ? 2 : 4;
    const bool same = H5Tequal(stored, type()) > 0 || H5Tequal(stored, H5T_NATIVE_UINT32) > 0;
    is_plain = same && chunk && (*chunk)[1] == table.length && is_deflated_only(made);
  }

  std::size_t chunk_bytes() const { return std::size_t{chunk_rows} * table.length * table.bytes; }

  // The bytes of the chunk that begins with this row; none when it was never written or not
  // deflated.
  bool fetch(std::uint64_t first, Buffer& into) const {
    const hdf5::Alone alone;
    hdf5::be_quiet();
    const std::array<hsize_t, 2> at = {first, 0};
    hsize_t bytes = 0;
    if (H5Dget_chunk_storage_size(ids, at.data(), &bytes) < 0 || bytes == 0) return false;
    // Deflating hardly ever makes more of anything, and never as much.
    if (bytes > 2 * chunk_bytes() + 1024) return false;
    into.resize(bytes);
    std::uint32_t left_out = 0;  // filters
    return H5Dread_chunk(ids, H5P_DEFAULT, at.data(), &left_out, into.data()) >= 0 && left_out == 0;
  }

  void inflate(Range rows, const Buffer& deflated, std::span<std::byte> into) const {
    thread_local const Inflater inflater(libdeflate_alloc_decompressor(),
                                         libdeflate_free_decompressor);
    PACELINE_CHECK(inflater != nullptr);
    if (libdeflate_zlib_decompress(inflater.get(), deflated.data(), deflated.size(), into.data(),
                                   into.size(), nullptr) != LIBDEFLATE_SUCCESS) {
      table.refuse_damaged(rows);
    }
  }

  // Any layout, any filter and any type that the library knows.
  void read_rows(Range rows, std::span<std::byte> into) const {
    const hdf5::Alone alone;
    hdf5::be_quiet();
    const std::array<hsize_t, 2> first = {rows.begin, 0};
    const std::array<hsize_t, 2> count = {rows.size(), table.length};
    const Space chosen(H5Dget_space(ids));
    H5Sselect_hyperslab(chosen, H5S_SELECT_SET, first.data(), nullptr, count.data(), nullptr);
    const Space memory(H5Screate_simple(2, count.data(), nullptr));
    if (H5Dread(ids, type(), memory, chosen, H5P_DEFAULT, into.data()) < 0) {
      table.refuse_damaged(rows);
    }
  }
};

void IdTable::refuse(const std::string& reason) const {
  throw DataError("{}: {}", file.string(), reason);
}

void IdTable::refuse_damaged(Range wanted) const {
  refuse(fmt::format("rows {} to {} of '{}' cannot be read: the file is damaged", wanted.begin,
                     wanted.end - 1, name));
}

PreparedIds::PreparedIds(const std::filesystem::path& path, const std::string& name) {
  const hdf5::Alone alone;
  hdf5::be_quiet();
  const IdTable table{path, name};
  File file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  Table ids(file.valid() ? H5Dopen2(file, name.c_str(), H5P_DEFAULT) : H5I_INVALID_HID);
  if (!ids.valid()) table.refuse(fmt::format("its table '{}' cannot be opened", name));
  impl_ = std::make_unique<Impl>(Impl{table, std::move(file), std::move(ids)});
  impl_->describe();
}

PreparedIds::~PreparedIds() {
  const hdf5::Alone alone;
  impl_.reset();
}

const IdTable& PreparedIds::table() const {
  return impl_->table;
}

void PreparedIds::read(std::uint64_t block, std::span<std::byte> into) const {
  PACELINE_CHECK(into.size() == table().block_bytes());
  const Range rows = table().rows_of(block);
  if (!impl_->is_plain) return impl_->read_rows(rows, into);
  thread_local Buffer deflated;
  for (std::uint64_t first = rows.begin; first < rows.end; first += impl_->chunk_rows) {
    const Range chunk{first, std::min(first + impl_->chunk_rows, rows.end)};
    const auto out = into.first(impl_->chunk_bytes());
    into = into.subspan(out.size());
    if (impl_->fetch(first, deflated)) {
      impl_->inflate(chunk, deflated, out);
    } else {
      impl_->read_rows(chunk, out);
    }
  }
}

}  // namespace paceline
