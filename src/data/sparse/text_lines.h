// The text of many files as pieces of whole lines, whichever way the files are compressed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

// The files that `pattern` means, in alphabetical order: a file, the files of a folder but for
// hidden ones, or both of what matches *, ?, [abc] and {this,that}; what Paceline keeps beside its
// data is none of them. Throws DataError when there is none.
std::vector<std::filesystem::path> files_of(const std::string& pattern);

struct TextPiece {
  std::size_t file = 0;  // its number
  std::string_view text;
  std::shared_ptr<const void> owner;  // keeps the text
  std::uint64_t file_bytes = 0;       // of the file as it is stored, up to here: for progress
};

// Reads one file after the other and calls `take` with pieces of about `piece_bytes`, each of
// whole lines, until it returns false. A plain file is mapped, not read. Throws DataError when a
// file cannot be read or is cut off, and when a line is longer than `most_line_bytes`.
inline constexpr std::size_t kPieceBytes = std::size_t{4} << 20;
inline constexpr std::size_t kMostLineBytes = std::size_t{64} << 20;
using TakePiece = std::function<bool(TextPiece)>;
void for_each_piece(const std::vector<std::filesystem::path>& files, const TakePiece& take,
                    std::size_t piece_bytes = kPieceBytes,
                    std::size_t most_line_bytes = kMostLineBytes);

// Calls `visit` with the lines of a text, without their ends.
template <typename Visit>
void for_each_line(std::string_view text, const Visit& visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    visit(line);
  }
}

// The first line that is not blank; empty: there is none.
std::string first_line(const std::vector<std::filesystem::path>& files);

}  // namespace paceline
