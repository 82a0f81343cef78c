// Any bytes as a file of lines, plain or compressed: a DataError, or all of its text in pieces of
// whole lines, the same text however large the pieces are.
#include <algorithm>
#include <string>

#include "base/error.h"
#include "data/gzip.h"
#include "data/sparse/text_lines.h"
#include "data/zstd.h"
#include "fuzz/fuzz_target.h"

namespace paceline {
namespace row_text_fuzzer {

constexpr std::size_t kEnough = std::size_t{1} << 18;  // a few bytes may stand for gigabytes

struct Read {
  std::string text;
  bool whole = false;  // no error, and not more than enough

  bool operator==(const Read&) const = default;
};

Read read_in_pieces(const BytesFile& file, std::size_t piece_bytes, std::size_t most_line_bytes) {
  Read read;
  bool last = false;  // a piece that ends within a line
  const bool accepted = accepts<DataError>([&] {
    for_each_piece(
        {file.path()},
        [&](const TextPiece& piece) {
          require(piece.file == 0 && !piece.text.empty() && !last);
          last = !piece.text.ends_with('\n');
          read.text += piece.text;
          return read.text.size() < kEnough;
        },
        piece_bytes, most_line_bytes);
  });
  read.whole = accepted && read.text.size() < kEnough;
  return read;
}

// The first two bytes are the size of the pieces and the longest line there may be.
void run(FuzzBytes bytes) {
  const std::size_t piece_bytes = 1 + take_byte(bytes);
  const std::size_t most_line_bytes = std::size_t{16} * take_byte(bytes);
  const BytesFile file(bytes);
  const Read whole = read_in_pieces(file, kEnough, kMostLineBytes);
  const Read pieces = read_in_pieces(file, piece_bytes, kMostLineBytes);
  require(!whole.whole || pieces == whole);
  // What is refused for its lines has one that is too long; what is not has the same text.
  const Read limited = read_in_pieces(file, piece_bytes, most_line_bytes);
  if (limited.whole) require(limited == whole);
  if (whole.whole && !limited.whole) {
    std::size_t longest = 0;
    for_each_line(whole.text, [&](std::string_view line) {
      longest = std::max(longest, line.size() + 2);  // with its end
    });
    require(longest > most_line_bytes);
  }
  const bool plain = !ZstdReader::is_one(file.path()) && !GzipReader(file.path()).compressed();
  require(!plain || (whole.whole && whole.text == as_text(bytes)));
  std::string first;
  if (accepts<DataError>([&] { first = first_line({file.path()}); }) && whole.whole) {
    require(first.empty() || whole.text.find(first) != std::string::npos);
  }
}

}  // namespace row_text_fuzzer

const FuzzTarget kRowTextFuzzer{"row_text", row_text_fuzzer::run};

}  // namespace paceline
