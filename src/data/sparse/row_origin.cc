#include "data/sparse/row_origin.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "data/sparse/text_lines.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

// What changes when a file does; empty, with errno set: it cannot be looked at.
std::string stamp_of(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return {};
  return fmt::format("{} {}.{:09}", status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

}  // namespace

std::string origin_of(const std::vector<fs::path>& files, const RowFormatOptions& format,
                      double test_share) {
  std::string text = fmt::format("{} {} bits {} test {}\n", name_of(format.format),
                                 format.target == RowTarget::kClass ? "classes" : "numbers",
                                 format.bits, test_share);
  for (const fs::path& file : files) {
    const std::string stamp = stamp_of(file);
    if (stamp.empty()) throw DataError("cannot read {}: {}", file.string(), errno_text(errno));
    text += fmt::format("{} {}\n", fs::absolute(file).string(), stamp);
  }
  return text;
}

RowOrigin parse_origin(std::string_view text) {
  RowOrigin origin;
  for_each_line(text, [&](std::string_view line) {
    if (origin.settings.empty()) {
      origin.settings = line;
      return;
    }
    // Names may have blanks; the two words behind them have none.
    const std::size_t time = line.rfind(' ');
    const std::size_t size = time == 0 ? time : line.rfind(' ', time - 1);
    if (time == std::string_view::npos || size == std::string_view::npos) return;
    origin.files.emplace_back(line.substr(0, size));
    const std::string now = stamp_of(origin.files.back());
    // What cannot be looked at, for want of a permission, say, may be as it was.
    const bool gone = now.empty() && (errno == ENOENT || errno == ENOTDIR);
    const bool changed = !now.empty() && now != line.substr(size + 1);
    origin.state = std::max(origin.state, gone      ? OriginState::kGone
                                          : changed ? OriginState::kChanged
                                                    : OriginState::kSame);
  });
  return origin;
}

}  // namespace paceline
