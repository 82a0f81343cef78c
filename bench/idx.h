// MNIST's files, plain or compressed, for the programs that are measured. They have a
// reader of their own so that a peer needs nothing of ours.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

struct Idx {
  std::vector<std::uint32_t> shape;
  std::vector<std::uint8_t> bytes;
};

// Reads DIR/NAME or, when that is not there, DIR/NAME.gz.
inline Idx read_idx(const std::string& directory, const std::string& name) {
  const std::string path = directory + "/" + name;
  gzFile file = gzopen(path.c_str(), "rb");  // reads plain files as they are
  if (file == nullptr) file = gzopen((path + ".gz").c_str(), "rb");
  if (file == nullptr) throw std::runtime_error(path + ": cannot open it, nor " + name + ".gz");
  const auto read = [&](void* to, std::size_t size) {
    if (gzread(file, to, static_cast<unsigned>(size)) != static_cast<int>(size)) {
      throw std::runtime_error(path + ": ends too early");
    }
  };
  const auto word = [&] {
    std::uint8_t b[4];
    read(b, sizeof b);
    return std::uint32_t{b[0]} << 24 | std::uint32_t{b[1]} << 16 | std::uint32_t{b[2]} << 8 | b[3];
  };
  Idx idx;
  const std::uint32_t magic = word();
  if (magic >> 8 != 8) throw std::runtime_error(path + ": not an IDX file of bytes");
  std::size_t size = 1;
  for (std::uint32_t d = 0; d < (magic & 0xff); ++d) {
    idx.shape.push_back(word());
    size *= idx.shape.back();
  }
  idx.bytes.resize(size);
  read(idx.bytes.data(), size);
  gzclose(file);
  return idx;
}

}  // namespace bench
