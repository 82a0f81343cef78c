// A line of raw reviews → its text and its rating, or why it is left out.
//
// Memory is kept from line to line. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "prepare/columns.h"
#include "prepare/input.h"

namespace paceline {

enum class Reject {
  kNone,
  kMalformed,    // not of the format
  kNoText,       // the field is missing, or not a text
  kNoRating,     // the field is missing, or not a number
  kRatingRange,  // outside of what ratings can be
  kEmpty,        // no word is left
  kTooLong,      // a line of more bytes than one may have
};
inline constexpr std::size_t kRejects = 7;
const char* sentence_of(Reject reject);  // "lines are not of the format"

// Ratings are kept in hundredths, so that they can be counted.
using Rating = std::uint16_t;
struct RatingRange {
  double lowest = 1;
  double highest = 5;
};
inline constexpr double kHighestRating = 650;

struct RawReview {
  std::string_view text;  // UTF-8 but for what `replaced` says; valid until the next line
  Rating rating = 0;
  std::uint32_t times = 1;  // so many reviews are like this
};

class ReviewParser {
 public:
  ReviewParser(const InputFile& file, const ReviewFields& fields, const RatingRange& range);
  ~ReviewParser();

  // `line` has LineReader::kPadding readable bytes behind it.
  Reject parse(std::string_view line, RawReview& review);

  std::uint64_t replaced_bytes() const { return replaced_; }  // of JSON that were not UTF-8

 private:
  struct Json;

  Reject parse_json(std::string_view line, RawReview& review);
  Reject parse_columns(std::string_view line, RawReview& review);
  Reject rate(double rating, RawReview& review) const;

  const InputFile& file_;
  RatingRange range_;
  std::vector<std::string> text_names_;
  std::vector<std::string> rating_names_;
  Columns columns_;
  std::uint64_t replaced_ = 0;
  std::string text_;
  std::unique_ptr<Json> json_;
};

}  // namespace paceline
