#include "exchange/row_deal.h"

#include "base/error.h"
#include "net/frame.h"
#include "session/protocol.pb.h"

namespace paceline {

RowDeal::RowDeal(std::uint64_t rows, std::uint32_t servers) : rows_(rows), servers_(servers) {
  PACELINE_CHECK(rows > 0 && servers > 0);
}

void RowDeal::split(std::span<const Key> keys, std::vector<Part>& parts) const {
  parts.resize(servers_);
  for (Part& part : parts) {
    part.rows.clear();
    part.places.clear();
  }
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    Part& part = parts[server_of(keys[i])];
    part.rows.push_back(row_of(keys[i]));
    part.places.push_back(i);
  }
}

std::string encode_rows(std::span<const std::uint32_t> rows) {
  wire::Keys keys;
  keys.mutable_gaps()->Reserve(static_cast<int>(rows.size()));
  std::uint32_t next = 0;
  for (const std::uint32_t row : rows) {
    keys.mutable_gaps()->AddAlreadyReserved(row - next);
    next = row + 1;
  }
  return keys.SerializeAsString();
}

std::vector<std::uint32_t> decode_rows(std::span<const std::byte> bytes, std::uint64_t rows) {
  wire::Keys keys;
  if (!keys.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    throw FrameError("rows that cannot be read");
  }
  std::vector<std::uint32_t> found;
  found.reserve(static_cast<std::size_t>(keys.gaps_size()));
  std::uint64_t next = 0;
  for (const std::uint32_t gap : keys.gaps()) {
    next += gap;
    if (next >= rows) throw FrameError("a row beyond the end of the table");
    found.push_back(static_cast<std::uint32_t>(next++));
  }
  return found;
}

}  // namespace paceline
