// Files of prepared reviews, as small as a test wants them.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"

namespace paceline {

// How the ids of a file lie in it.
struct IdLayout {
  hsize_t chunk_rows = 0;     // 0: one behind the other
  hsize_t chunk_columns = 0;  // 0: whole rows
  bool deflated = true;
  bool shuffled = false;
  bool written = true;  // not: a table of zeros without any chunk
  hid_t type = H5T_STD_U16LE;
};

class PreparedFile {
 public:
  explicit PreparedFile(const std::filesystem::path& file)
      : file_(H5Fcreate(file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)) {
    PACELINE_CHECK(file_ >= 0);
  }
  PreparedFile(const PreparedFile&) = delete;
  PreparedFile& operator=(const PreparedFile&) = delete;
  ~PreparedFile() { H5Fclose(file_); }

  PreparedFile& version(std::uint32_t number) {
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t attribute =
        H5Acreate2(file_, "paceline_reviews", H5T_STD_U32LE, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, H5T_NATIVE_UINT32, &number);
    H5Aclose(attribute);
    H5Sclose(space);
    return *this;
  }

  PreparedFile& words(const std::vector<std::string>& words) { return list("vocabulary", words); }

  PreparedFile& stop_words(const std::vector<std::string>& words) {
    return list("stop_words", words);
  }

  // Of the parts that follow.
  PreparedFile& layout(const IdLayout& layout) {
    layout_ = layout;
    return *this;
  }

  PreparedFile& part(const std::string& name, std::size_t length,
                     const std::vector<std::uint16_t>& ids,
                     const std::vector<std::uint8_t>& labels) {
    H5Gclose(H5Gcreate2(file_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    const hid_t made = properties(length);
    write(name + "/ids", {ids.size() / length, length}, layout_.type, H5T_NATIVE_UINT16, ids.data(),
          made);
    H5Pclose(made);
    write(name + "/labels", {labels.size()}, H5T_STD_U8LE, H5T_NATIVE_UINT8, labels.data());
    return *this;
  }

  // Where the chunk with this row begins.
  std::uint64_t place_of_chunk(const std::string& table_name, std::uint64_t row) const {
    H5Fflush(file_, H5F_SCOPE_LOCAL);
    const hid_t table = H5Dopen2(file_, table_name.c_str(), H5P_DEFAULT);
    const hsize_t at[] = {row, 0};
    haddr_t place = HADDR_UNDEF;
    hsize_t bytes = 0;
    unsigned mask = 0;
    H5Dget_chunk_info_by_coord(table, at, &mask, &place, &bytes);
    H5Dclose(table);
    PACELINE_CHECK(place != HADDR_UNDEF);
    return place;
  }

 private:
  PreparedFile& list(const std::string& name, const std::vector<std::string>& words) {
    constexpr std::size_t kWidth = 16;
    std::vector<char> text(words.size() * kWidth);
    for (std::size_t i = 0; i < words.size(); ++i) {
      std::memcpy(&text[i * kWidth], words[i].data(), words[i].size());
    }
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, kWidth);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    H5Tset_cset(type, H5T_CSET_UTF8);
    write(name, {words.size()}, type, type, text.data());
    H5Tclose(type);
    return *this;
  }

  hid_t properties(std::size_t length) const {
    const hid_t made = H5Pcreate(H5P_DATASET_CREATE);
    if (layout_.chunk_rows == 0) return made;
    const hsize_t columns = layout_.chunk_columns == 0 ? length : layout_.chunk_columns;
    const hsize_t chunk[] = {layout_.chunk_rows, columns};
    H5Pset_chunk(made, 2, chunk);
    if (layout_.shuffled) H5Pset_shuffle(made);
    if (layout_.deflated) H5Pset_deflate(made, 1);
    return made;
  }

  // A table that may grow, since a chunk may be larger than it is.
  void write(const std::string& name, const std::vector<hsize_t>& shape, hid_t file_type,
             hid_t memory_type, const void* values, hid_t made = H5P_DEFAULT) {
    std::vector<hsize_t> most = shape;
    if (made != H5P_DEFAULT && layout_.chunk_rows > 0) most[0] = H5S_UNLIMITED;
    const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), most.data());
    const hid_t table =
        H5Dcreate2(file_, name.c_str(), file_type, space, H5P_DEFAULT, made, H5P_DEFAULT);
    PACELINE_CHECK(table >= 0);
    if (made == H5P_DEFAULT || layout_.written) {
      H5Dwrite(table, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    }
    H5Dclose(table);
    H5Sclose(space);
  }

  hid_t file_;
  IdLayout layout_;
};

}  // namespace paceline
