#include "prepare/sequence_file.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include "base/error.h"
#include "base/file/file.h"
#include "data/hdf5.h"
#include "data/prepared.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

using namespace hdf5;

// A dataset whose times are not kept.
Properties table_properties(const std::vector<hsize_t>& chunk) {
  Properties properties(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_obj_track_times(properties, false);
  H5Pset_chunk(properties, static_cast<int>(chunk.size()), chunk.data());
  H5Pset_deflate(properties, 1);
  return properties;
}

}  // namespace

struct SequenceFile::Impl {
  fs::path path;
  fs::path partial;
  SequenceShape shape;
  std::optional<File> file;
  std::optional<Table> ids;
  std::optional<Table> labels;
  hsize_t next_ids = 0;  // row at which the next chunk begins
  hsize_t next_labels = 0;
  bool committed = false;

  [[noreturn]] void fail(int error) const {
    throw DataError("cannot write {}{}{}", path.string(), error == 0 ? "" : ": ",
                    error == 0 ? "" : errno_text(error));
  }
  void expect(bool done) const {
    if (!done) fail(errno);
  }
  Table make(const std::string& name, hid_t type, const std::vector<hsize_t>& size,
             const std::vector<hsize_t>& chunk) const {
    std::vector<hsize_t> most = size;
    most[0] = H5S_UNLIMITED;  // a chunk may be larger than the table
    const Space space(H5Screate_simple(static_cast<int>(size.size()), size.data(), most.data()));
    Table table(H5Dcreate2(*file, name.c_str(), type, space, H5P_DEFAULT, table_properties(chunk),
                           H5P_DEFAULT));
    expect(table.valid());
    return table;
  }
  void write(const std::optional<Table>& table, std::vector<hsize_t> at,
             const std::string& chunk) const {
    errno = 0;
    expect(H5Dwrite_chunk(*table, H5P_DEFAULT, 0, at.data(), chunk.size(), chunk.data()) >= 0);
  }
};

SequenceFile::SequenceFile(const fs::path& path, const SequenceShape& shape)
    : impl_(std::make_unique<Impl>()) {
  be_quiet();
  impl_->path = behind_links(path);
  impl_->partial = partial_path(path);
  impl_->shape = shape;
  errno = 0;
  impl_->file.emplace(H5Fcreate(impl_->partial.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  impl_->expect(impl_->file->valid());
  set_attribute(kPreparedVersionName, kPreparedVersion);
}

SequenceFile::~SequenceFile() {
  if (impl_->committed) return;
  impl_->ids.reset();
  impl_->labels.reset();
  impl_->file.reset();
  ::unlink(impl_->partial.c_str());
}

void SequenceFile::begin_part(const std::string& name, std::uint64_t rows) {
  const SequenceShape& shape = impl_->shape;
  const Properties untimed(H5Pcreate(H5P_GROUP_CREATE));
  H5Pset_obj_track_times(untimed, false);
  const Group group(H5Gcreate2(*impl_->file, name.c_str(), H5P_DEFAULT, untimed, H5P_DEFAULT));
  impl_->expect(group.valid());
  impl_->ids.emplace(impl_->make(name + "/ids", shape.bytes == 2 ? H5T_STD_U16LE : H5T_STD_U32LE,
                                 {rows, shape.length}, {shape.chunk_rows, shape.length}));
  impl_->labels.emplace(impl_->make(name + "/labels", H5T_STD_U8LE, {rows}, {shape.label_rows}));
  impl_->next_ids = impl_->next_labels = 0;
}

void SequenceFile::add_ids(const std::string& chunk) {
  impl_->write(impl_->ids, {impl_->next_ids, 0}, chunk);
  impl_->next_ids += impl_->shape.chunk_rows;
}

void SequenceFile::add_labels(const std::string& chunk) {
  impl_->write(impl_->labels, {impl_->next_labels}, chunk);
  impl_->next_labels += impl_->shape.label_rows;
}

void SequenceFile::set_words(const std::string& name, const std::vector<std::string>& words) {
  std::size_t width = 1;
  for (const std::string& word : words) width = std::max(width, word.size());
  std::string text;
  for (const std::string& word : words) {
    text += word;
    text.append(width - word.size(), '\0');
  }
  const Type type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type, width);
  H5Tset_cset(type, H5T_CSET_UTF8);
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  const hsize_t count = words.size();
  const Space space(H5Screate_simple(1, &count, nullptr));
  const Properties untimed(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_obj_track_times(untimed, false);
  const Table table(
      H5Dcreate2(*impl_->file, name.c_str(), type, space, H5P_DEFAULT, untimed, H5P_DEFAULT));
  impl_->expect(table.valid());
  errno = 0;
  if (!words.empty()) {
    impl_->expect(H5Dwrite(table, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()) >= 0);
  }
}

void SequenceFile::set_attribute(const std::string& name, const std::string& text) {
  const Type type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type, std::max<std::size_t>(1, text.size()));
  H5Tset_cset(type, H5T_CSET_UTF8);
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  const Space space(H5Screate(H5S_SCALAR));
  const Attribute attribute(
      H5Acreate2(*impl_->file, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT));
  impl_->expect(attribute.valid() && H5Awrite(attribute, type, text.c_str()) >= 0);
}

void SequenceFile::set_attribute(const std::string& name, std::uint64_t number) {
  const Space space(H5Screate(H5S_SCALAR));
  const Attribute attribute(
      H5Acreate2(*impl_->file, name.c_str(), H5T_STD_U64LE, space, H5P_DEFAULT, H5P_DEFAULT));
  impl_->expect(attribute.valid() && H5Awrite(attribute, H5T_NATIVE_UINT64, &number) >= 0);
}

fs::path SequenceFile::partial_path(const fs::path& path) {
  return behind_links(path).string() + ".partial";
}

void SequenceFile::close() {
  impl_->ids.reset();
  impl_->labels.reset();
  errno = 0;
  impl_->expect(H5Fflush(*impl_->file, H5F_SCOPE_LOCAL) >= 0);
  impl_->file.reset();
}

void SequenceFile::commit() {
  if (impl_->file) close();
  move_into_place(impl_->partial, impl_->path);
  impl_->committed = true;
}

}  // namespace paceline
