#include "prepare/columns.h"

#include <algorithm>

namespace paceline {
namespace {

// The quote that closes what one before `at` has opened.
std::size_t find_closing(std::string_view text, std::size_t at) {
  at = text.find('"', at);
  while (at != std::string_view::npos && at + 1 < text.size() && text[at + 1] == '"') {
    at = text.find('"', at + 2);
  }
  return at;
}

}  // namespace

std::size_t end_of_csv_line(std::string_view text) {
  const auto line_end = [&](std::size_t from) {
    return std::min(text.find('\n', from), text.size());
  };
  std::size_t end = line_end(0);
  for (std::size_t at = 0; true; ++at) {
    if (at < text.size() && text[at] == '"') {
      at = find_closing(text, at + 1);
      if (at == std::string_view::npos) return at;
      if (end < at) end = line_end(at);
    }
    at = text.substr(0, end).find(',', at);
    if (at == std::string_view::npos) return end;
  }
}

void Columns::begin(std::string_view line) {
  line_ = line;
  at_ = 0;
  open_quote_ = false;
}

std::string_view Columns::next() {
  if (!more()) return {};
  const char separator = csv_ ? ',' : '\t';
  const auto end_from = [&](std::size_t at) {
    return std::min(line_.find(separator, at), line_.size());
  };
  const std::size_t begin = at_;
  if (!csv_ || begin >= line_.size() || line_[begin] != '"') {
    const std::size_t end = end_from(begin);
    at_ = end + 1;
    return line_.substr(begin, end - begin);
  }
  const std::size_t closing = find_closing(line_, begin + 1);
  open_quote_ = closing == std::string_view::npos;
  const std::string_view quoted = line_.substr(begin + 1, closing - begin - 1);
  const std::size_t end = open_quote_ ? line_.size() : end_from(closing);
  at_ = end + 1;
  const std::string_view behind = open_quote_ ? "" : line_.substr(closing + 1, end - closing - 1);
  if (behind.empty() && quoted.find('"') == std::string_view::npos) return quoted;
  unquoted_.clear();
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    unquoted_ += quoted[i];
    if (quoted[i] == '"') ++i;
  }
  return unquoted_ += behind;
}

}  // namespace paceline
