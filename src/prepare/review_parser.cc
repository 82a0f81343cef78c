#include "prepare/review_parser.h"

#include <simdjson.h>
#include <utf8proc.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "prepare/line_reader.h"

namespace paceline {
namespace {

namespace dom = simdjson::dom;
static_assert(LineReader::kPadding >= simdjson::SIMDJSON_PADDING);

constexpr double kMostTimes = 4'000'000'000;

std::optional<double> number_in(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// A number, or a text that is one.
std::optional<double> rating_in(const dom::element& value) {
  double number = 0;
  if (value.get_double().get(number) == simdjson::SUCCESS) return number;
  std::string_view text;
  if (value.get_string().get(text) == simdjson::SUCCESS) return number_in(text);
  return std::nullopt;
}

std::size_t place_of(std::string_view key, const std::vector<std::string>& names) {
  return static_cast<std::size_t>(std::ranges::find(names, key) - names.begin());
}

// Bytes that are not UTF-8 become U+FFFD. Returns how many there were.
std::uint64_t replace_wrong_bytes(std::string_view text, std::string& out) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  std::uint64_t wrong = 0;
  out.clear();
  const auto* at = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const auto* const end = at + text.size();
  while (at < end) {
    utf8proc_int32_t character = 0;
    const utf8proc_ssize_t bytes = utf8proc_iterate(at, end - at, &character);
    if (bytes > 0) {
      out.append(reinterpret_cast<const char*>(at), static_cast<std::size_t>(bytes));
      at += bytes;
    } else {
      out += kReplacement;
      ++wrong;
      ++at;
    }
  }
  return wrong;
}

}  // namespace

const char* sentence_of(Reject reject) {
  switch (reject) {
    case Reject::kNone:
      return "taken";
    case Reject::kMalformed:
      return "not of the format";
    case Reject::kNoText:
      return "without a text";
    case Reject::kNoRating:
      return "without a rating";
    case Reject::kRatingRange:
      return "with a rating out of range";
    case Reject::kEmpty:
      return "without a word";
    case Reject::kTooLong:
      return "too long";
  }
  return "";
}

struct ReviewParser::Json {
  dom::parser parser;
  std::string repaired;
};

ReviewParser::ReviewParser(const InputFile& file, const ReviewFields& fields,
                           const RatingRange& range)
    : file_(file),
      range_(file.format == ReviewFormat::kGrouped ? RatingRange{0, kHighestRating} : range),
      text_names_(names_of_text(fields)),
      rating_names_(names_of_rating(fields)),
      columns_(file.format == ReviewFormat::kCsv ? Columns::Kind::kCsv : Columns::Kind::kTsv),
      json_(std::make_unique<Json>()) {}

ReviewParser::~ReviewParser() = default;

Reject ReviewParser::parse(std::string_view line, RawReview& review) {
  return file_.format == ReviewFormat::kJson ? parse_json(line, review)
                                             : parse_columns(line, review);
}

Reject ReviewParser::rate(double rating, RawReview& review) const {
  if (!(rating >= range_.lowest && rating <= range_.highest)) return Reject::kRatingRange;
  review.rating = static_cast<Rating>(std::lround(rating * 100));
  return Reject::kNone;
}

Reject ReviewParser::parse_json(std::string_view line, RawReview& review) {
  dom::object object;
  auto error = json_->parser.parse(line.data(), line.size(), false).get(object);
  if (error == simdjson::UTF8_ERROR) {
    replaced_ += replace_wrong_bytes(line, json_->repaired);
    error = json_->parser.parse(json_->repaired).get(object);
  }
  if (error != simdjson::SUCCESS) return Reject::kMalformed;
  // Of several that can be used, the name that comes first counts; of one that stands there twice
  // the last.
  std::size_t text_place = text_names_.size();
  std::size_t rating_place = rating_names_.size();
  std::optional<double> rating;
  for (const auto& [key, value] : object) {
    const std::size_t as_text = place_of(key, text_names_);
    if (as_text < text_names_.size() && as_text <= text_place &&
        value.get_string().get(review.text) == simdjson::SUCCESS) {
      text_place = as_text;
    }
    const std::size_t as_rating = place_of(key, rating_names_);
    if (as_rating == rating_names_.size() || as_rating > rating_place) continue;
    if (const auto found = rating_in(value)) {
      rating = found;
      rating_place = as_rating;
    }
  }
  if (text_place == text_names_.size()) return Reject::kNoText;
  if (!rating) return Reject::kNoRating;
  return rate(*rating, review);
}

Reject ReviewParser::parse_columns(std::string_view line, RawReview& review) {
  std::optional<double> rating;
  const std::size_t last = std::max(file_.text_column, file_.rating_column);
  review.times = 1;
  columns_.begin(line);
  for (std::size_t i = 0; i <= last; ++i) {
    if (!columns_.more()) return i <= file_.rating_column ? Reject::kNoRating : Reject::kNoText;
    const std::string_view found = columns_.next();
    if (columns_.open_quote()) return Reject::kMalformed;
    if (i == file_.rating_column) {
      rating = number_in(found);
      if (!rating) return Reject::kNoRating;
    } else if (i == file_.text_column) {
      text_.assign(found);
    }
  }
  if (file_.times_column && columns_.more()) {  // it is behind both
    const auto times = number_in(columns_.next());
    if (!times || !(*times >= 1 && *times <= kMostTimes)) return Reject::kMalformed;
    review.times = static_cast<std::uint32_t>(*times);
  }
  review.text = text_;
  return rate(*rating, review);
}

}  // namespace paceline
