// Bytes of a file, and some that follow them: what one process sends to another.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace paceline {

struct FilePiece {
  std::filesystem::path path;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string tail;

  std::uint64_t bytes() const { return end - begin + tail.size(); }
};

}  // namespace paceline
