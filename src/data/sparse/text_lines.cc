#include "data/sparse/text_lines.h"

#include <glob.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>

#include "base/error.h"
#include "base/file/mapped_file.h"
#include "data/gzip.h"
#include "data/zstd.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

// What programs keep beside the text: caches, outputs that are not finished and folders of what is
// between; .part-0.crc, _SUCCESS.
bool is_ours(const fs::path& path) {
  const fs::path kind = path.extension();
  return kind == ".rows" || kind == ".partial" || kind == ".work";
}
bool is_hidden(const fs::path& path) {
  const char first = path.filename().string()[0];
  return first == '.' || first == '_';
}

// Where the last whole line of `text` ends; 0: none does.
std::size_t last_line_end(std::string_view text) {
  const std::size_t found = text.rfind('\n');
  return found == std::string_view::npos ? 0 : found + 1;
}

// Cuts what arrives piece by piece at line ends.
class Cutter {
 public:
  Cutter(std::size_t file, const fs::path& path, const TakePiece& take, std::size_t piece_bytes,
         std::size_t most_line_bytes)
      : file_(file),
        path_(path),
        take_(take),
        piece_bytes_(piece_bytes),
        most_line_bytes_(most_line_bytes) {}

  bool cut_mapped() {
    const auto map = std::make_shared<MappedFile>(path_);
    std::string_view rest(reinterpret_cast<const char*>(map->bytes().data()), map->bytes().size());
    std::uint64_t done = 0;
    while (!rest.empty()) {
      std::size_t bytes = std::min(piece_bytes_, rest.size());
      if (bytes < rest.size()) {
        const std::size_t end = last_line_end(rest.substr(0, bytes));
        bytes = end > 0 ? end : std::min(rest.find('\n', bytes), rest.size() - 1) + 1;
        if (end == 0) expect_short(bytes);
      }
      done += bytes;
      if (!take_({file_, rest.substr(0, bytes), map, done})) return false;
      rest.remove_prefix(bytes);
    }
    return true;
  }

  template <typename Reader>
  bool cut_stream(Reader& reader) {
    std::string carry;  // the beginning of a line whose end is yet to come
    for (bool more = true; more;) {
      auto text = std::make_shared<std::string>(std::move(carry));
      const std::size_t before = text->size();
      text->resize(before + piece_bytes_);
      const std::size_t got =
          reader.read(std::as_writable_bytes(std::span(text->data() + before, piece_bytes_)));
      text->resize(before + got);
      more = got == piece_bytes_;
      const std::size_t end = more ? last_line_end(*text) : text->size();
      carry.assign(*text, end);
      expect_short(carry.size());
      const TextPiece piece{file_, std::string_view(*text).substr(0, end), text, reader.consumed()};
      if (end > 0 && !take_(piece)) return false;
    }
    return true;
  }

 private:
  void expect_short(std::size_t bytes) const {
    if (bytes <= most_line_bytes_) return;
    throw DataError("{} has a line of more than {} MB: is it text?", path_.string(),
                    most_line_bytes_ >> 20);
  }

  std::size_t file_;
  const fs::path& path_;
  const TakePiece& take_;
  std::size_t piece_bytes_;
  std::size_t most_line_bytes_;
};

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const fs::path& path = entry.path();
    if (entry.is_regular_file() && !is_ours(path) && !is_hidden(path)) files.push_back(path);
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

std::vector<fs::path> files_of(const std::string& pattern) {
  std::error_code error;
  if (fs::is_directory(pattern, error)) {
    std::vector<fs::path> files = files_in(pattern);
    if (files.empty()) throw DataError("there are no files in the folder {}", pattern);
    return files;
  }
  if (fs::exists(pattern, error)) return {pattern};
  std::vector<fs::path> files;
  glob_t found{};
  if (::glob(pattern.c_str(), GLOB_BRACE | GLOB_TILDE, nullptr, &found) == 0) {
    for (const fs::path match : std::span(found.gl_pathv, found.gl_pathc)) {
      if (is_ours(match)) continue;
      if (fs::is_directory(match, error)) {
        std::ranges::move(files_in(match), std::back_inserter(files));
      } else {
        files.push_back(match);
      }
    }
  }
  ::globfree(&found);
  if (files.empty()) throw DataError("there is no file {}", pattern);
  std::ranges::sort(files);
  return files;
}

void for_each_piece(const std::vector<fs::path>& files, const TakePiece& take,
                    std::size_t piece_bytes, std::size_t most_line_bytes) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    Cutter cutter(i, files[i], take, piece_bytes, most_line_bytes);
    bool more = true;
    if (ZstdReader::is_one(files[i])) {
      ZstdReader reader(files[i]);
      more = cutter.cut_stream(reader);
    } else {
      GzipReader reader(files[i]);
      more = reader.compressed() ? cutter.cut_stream(reader) : cutter.cut_mapped();
    }
    if (!more) return;
  }
}

std::string first_line(const std::vector<fs::path>& files) {
  std::string found;
  const auto look = [&found](const TextPiece& piece) {
    for_each_line(piece.text, [&](std::string_view line) {
      if (found.empty() && line.find_first_not_of(" \t") != std::string_view::npos) found = line;
    });
    return found.empty();
  };
  for_each_piece(files, look, std::size_t{64} << 10);
  return found;
}

}  // namespace paceline
