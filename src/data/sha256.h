// SHA-256 of bytes that arrive piece by piece.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace paceline {

class Sha256 {
 public:
  Sha256();
  ~Sha256();

  void add(std::span<const std::byte> bytes);
  std::string hex();  // ends the sum: 64 lower-case digits

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace paceline
