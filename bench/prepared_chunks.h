// The deflated chunks of /train/ids in a file of prepared reviews, without anything around them.
#pragma once

#include <libdeflate.h>

#include <array>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "data/hdf5.h"

namespace bench {

class PreparedChunks {
 public:
  explicit PreparedChunks(const char* path)
      : file_(H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT)),
        ids_(H5Dopen2(file_, "train/ids", H5P_DEFAULT)),
        inflater_(libdeflate_alloc_decompressor()) {
    const paceline::hdf5::Space space(H5Dget_space(ids_));
    const paceline::hdf5::Properties made(H5Dget_create_plist(ids_));
    const paceline::hdf5::Type type(H5Dget_type(ids_));
    if (H5Tequal(type, H5T_NATIVE_UINT16) <= 0 || H5Pget_layout(made) != H5D_CHUNKED) {
      throw paceline::DataError("{}: not chunks of numbers of 16 bits", path);
    }
    H5Sget_simple_extent_dims(space, shape_.data(), nullptr);
    H5Pget_chunk(made, 2, chunk_.data());
  }
  ~PreparedChunks() { libdeflate_free_decompressor(inflater_); }
  PreparedChunks(const PreparedChunks&) = delete;
  PreparedChunks& operator=(const PreparedChunks&) = delete;

  std::uint64_t rows() const { return shape_[0]; }
  std::uint64_t length() const { return shape_[1]; }
  std::uint64_t chunk_rows() const { return chunk_[0]; }
  std::uint64_t chunks() const { return (rows() + chunk_rows() - 1) / chunk_rows(); }

  void inflate(std::uint64_t chunk, std::vector<std::uint16_t>& into) {
    const std::array<hsize_t, 2> at = {chunk * chunk_rows(), 0};
    hsize_t bytes = 0;
    std::uint32_t mask = 0;
    H5Dget_chunk_storage_size(ids_, at.data(), &bytes);
    deflated_.resize(bytes);
    into.resize(chunk_rows() * length());
    if (H5Dread_chunk(ids_, H5P_DEFAULT, at.data(), &mask, deflated_.data()) < 0 ||
        libdeflate_zlib_decompress(inflater_, deflated_.data(), bytes, into.data(),
                                   into.size() * sizeof(std::uint16_t),
                                   nullptr) != LIBDEFLATE_SUCCESS) {
      throw paceline::DataError("chunk {} cannot be inflated", chunk);
    }
  }

 private:
  paceline::hdf5::File file_;
  paceline::hdf5::Table ids_;
  libdeflate_decompressor* inflater_;
  std::array<hsize_t, 2> shape_{};
  std::array<hsize_t, 2> chunk_{};
  std::vector<char> deflated_;
};

}  // namespace bench
