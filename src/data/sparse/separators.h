// Where the separators of a line are, found many bytes at a time: what lies between them can then
// be read without looking for its end.
//
// Memory is kept from line to line. One thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace paceline {

class Separators {
 public:
  static constexpr std::size_t kAtOnce = 16;  // places are written so many at a time
  using Marks = std::array<char, 3>;          // repeat one where there are fewer

  // The places of all bytes of `line` that are one of the marks, ascending; valid until the next
  // call. Reads nothing beyond the line.
  std::span<const std::uint32_t> find(std::string_view line, const Marks& marks);

 private:
  std::size_t room_ = 0;
  std::unique_ptr<std::uint32_t[]> places_;
};

}  // namespace paceline
