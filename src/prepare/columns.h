// The columns of CSV and TSV.
//
// In CSV a quote at the very beginning of a column opens it, up to the next that is not doubled:
// separators and line ends between are text, and so is what follows up to the next separator.
// Anywhere else a quote is a character like others.
// TSV has no quotes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace paceline {

// Where the line ends that begins with `text`: at a line end outside of quotes. npos: not in
// `text`.
std::size_t end_of_csv_line(std::string_view text);

// One line after the other; memory is kept.
class Columns {
 public:
  enum class Kind { kCsv, kTsv };
  explicit Columns(Kind kind) : csv_(kind == Kind::kCsv) {}

  void begin(std::string_view line);
  bool more() const { return at_ <= line_.size(); }
  // The next column without its quotes, valid until the next call. Behind the last one: empty.
  std::string_view next();
  bool open_quote() const { return open_quote_; }  // a quote of this line is not closed

 private:
  bool csv_;
  std::string_view line_;
  std::size_t at_ = 0;
  std::string unquoted_;
  bool open_quote_ = false;
};

}  // namespace paceline
