// The rows of a table dealt to servers, by key.
//
// Of every `servers` neighbours each server has one; which one turns with a hash of where they
// are, so that neither a regular pattern of keys nor a few frequent ones favour a server. A
// server's rows are numbered by the keys' order and without gaps, so what is ascending by key is
// ascending on every server.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/range.h"
#include "data/sparse/row.h"

namespace paceline {

class RowDeal {
 public:
  RowDeal(std::uint64_t rows, std::uint32_t servers);

  std::uint32_t servers() const { return servers_; }
  std::uint64_t rows() const { return rows_; }
  // Of each server. Where keys end in the middle of neighbours, some have one that is not used.
  std::uint64_t rows_each() const { return (rows_ + servers_ - 1) / servers_; }

  std::uint32_t row_of(Key key) const { return key / servers_; }
  std::uint32_t server_of(Key key) const {
    const std::uint32_t row = row_of(key);
    const std::uint32_t server = key - row * servers_ + turn(row);
    return server < servers_ ? server : server - servers_;
  }
  Key key_of(std::uint32_t server, std::uint32_t row) const {
    const std::uint32_t place = server + servers_ - turn(row);
    return row * servers_ + (place < servers_ ? place : place - servers_);
  }

  // Of keys that are ascending: each server's rows, and where in `keys` they came from.
  struct Part {
    std::vector<std::uint32_t> rows;
    std::vector<std::uint32_t> places;
  };
  void split(std::span<const Key> keys, std::vector<Part>& parts) const;

 private:
  std::uint32_t turn(std::uint32_t row) const {
    const std::uint64_t mixed = row * std::uint64_t{0x9E3779B97F4A7C15};
    return static_cast<std::uint32_t>((mixed >> 32) * servers_ >> 32);
  }

  std::uint64_t rows_;
  std::uint32_t servers_;
};

// Rows on their way to a server: the gaps between them, as a wire::Keys. Throws FrameError when
// they are not below `rows`.
std::string encode_rows(std::span<const std::uint32_t> rows);
std::vector<std::uint32_t> decode_rows(std::span<const std::byte> bytes, std::uint64_t rows);

}  // namespace paceline
