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

  PreparedFile& words(const std::vector<std::string>& words) {
    constexpr std::size_t kWidth = 16;
    std::vector<char> text(words.size() * kWidth);
    for (std::size_t i = 0; i < words.size(); ++i) {
      std::memcpy(&text[i * kWidth], words[i].data(), words[i].size());
    }
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, kWidth);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    H5Tset_cset(type, H5T_CSET_UTF8);
    write("vocabulary", {words.size()}, type, type, text.data());
    H5Tclose(type);
    return *this;
  }

  PreparedFile& part(const std::string& name, std::size_t length,
                     const std::vector<std::uint16_t>& ids,
                     const std::vector<std::uint8_t>& labels) {
    H5Gclose(H5Gcreate2(file_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    write(name + "/ids", {ids.size() / length, length}, H5T_STD_U16LE, H5T_NATIVE_UINT16,
          ids.data());
    write(name + "/labels", {labels.size()}, H5T_STD_U8LE, H5T_NATIVE_UINT8, labels.data());
    return *this;
  }

 private:
  void write(const std::string& name, const std::vector<hsize_t>& shape, hid_t file_type,
             hid_t memory_type, const void* values) {
    const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    const hid_t table =
        H5Dcreate2(file_, name.c_str(), file_type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    PACELINE_CHECK(table >= 0);
    H5Dwrite(table, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(table);
    H5Sclose(space);
  }

  hid_t file_;
};

}  // namespace paceline
