#include "prepare/review_parser.h"

#include <gtest/gtest.h>

#include "prepare/line_reader.h"

namespace paceline {
namespace {

struct Parsed {
  Reject reject = Reject::kNone;
  std::string text;
  int rating = 0;
  std::uint64_t replaced = 0;
};

Parsed parsed(ReviewFormat format, std::string line, const ReviewFields& fields = {},
              std::size_t text_column = 1, std::size_t rating_column = 0) {
  InputFile file;
  file.format = format;
  file.text_column = text_column;
  file.rating_column = rating_column;
  ReviewParser parser(file, fields, {1, 5});
  const std::size_t size = line.size();
  line.append(LineReader::kPadding, '\0');
  RawReview review;
  Parsed result;
  result.reject = parser.parse(std::string_view(line).substr(0, size), review);
  if (result.reject == Reject::kNone) {
    result.text = review.text;
    result.rating = review.rating;
  }
  result.replaced = parser.replaced_bytes();
  return result;
}

TEST(JsonReviews, HaveTheirTextAndRatingUnderTheUsualNames) {
  const Parsed amazon = parsed(
      ReviewFormat::kJson,
      R"({"reviewerID":"A1","overall":5.0,"reviewText":"Caf\u00e9 \"x\"\n\ud83d\ude00","summary":"s"})");
  EXPECT_EQ(amazon.text, "Café \"x\"\n😀");
  EXPECT_EQ(amazon.rating, 500);
  const Parsed yelp = parsed(ReviewFormat::kJson, R"({"stars":"2","text":"so so"})");
  EXPECT_EQ(yelp.text, "so so");
  EXPECT_EQ(yelp.rating, 200);
}

TEST(JsonReviews, MayHaveSeveralOfTheUsualNames) {
  for (const char* line : {R"({"reviewText":"good","text":null,"stars":1,"overall":5})",
                           R"({"text":"other","overall":5,"reviewText":"good","rating":2})",
                           R"({"reviewText":null,"text":"good","overall":"none","rating":5})"}) {
    const Parsed review = parsed(ReviewFormat::kJson, line);
    EXPECT_EQ(review.text, "good") << line;
    EXPECT_EQ(review.rating, 500) << line;
  }
}

TEST(JsonReviews, MayHaveOtherNames) {
  const std::string line = R"({"body":"b","overall":1,"note":3.5,"text":"t"})";
  const Parsed review = parsed(ReviewFormat::kJson, line, {"body", "note"});
  EXPECT_EQ(review.text, "b");
  EXPECT_EQ(review.rating, 350);
}

TEST(JsonReviews, ThatCannotBeTakenSayWhy) {
  const auto reject = [](const std::string& line) {
    return parsed(ReviewFormat::kJson, line).reject;
  };
  EXPECT_EQ(reject("not json"), Reject::kMalformed);
  EXPECT_EQ(reject("[1, 2]"), Reject::kMalformed);
  EXPECT_EQ(reject(R"({"overall":5,"reviewText":"cut o)"), Reject::kMalformed);
  EXPECT_EQ(reject(R"({"overall":5,"reviewText":"x"} more)"), Reject::kMalformed);
  EXPECT_EQ(reject(R"({"overall":5})"), Reject::kNoText);
  EXPECT_EQ(reject(R"({"overall":5,"reviewText":null})"), Reject::kNoText);
  EXPECT_EQ(reject(R"({"reviewText":"x"})"), Reject::kNoRating);
  EXPECT_EQ(reject(R"({"reviewText":"x","overall":"many"})"), Reject::kNoRating);
  EXPECT_EQ(reject(R"({"reviewText":"x","overall":0})"), Reject::kRatingRange);
  EXPECT_EQ(reject(R"({"reviewText":"x","overall":1e300})"), Reject::kRatingRange);
  EXPECT_EQ(reject(std::string(100, '\x01')), Reject::kMalformed);
  EXPECT_EQ(reject(std::string(2000, '{')), Reject::kMalformed);
}

TEST(JsonReviews, HaveBytesThatAreNotUtf8Replaced) {
  const Parsed review =
      parsed(ReviewFormat::kJson, "{\"overall\":4,\"reviewText\":\"caf\xE9 ol\xE9\"}");
  EXPECT_EQ(review.reject, Reject::kNone);
  EXPECT_EQ(review.text, "caf\uFFFD ol\uFFFD");
  EXPECT_EQ(review.replaced, 2U);
}

TEST(TsvReviews, HaveColumns) {
  EXPECT_EQ(parsed(ReviewFormat::kTsv, "4\tfine, \"really\"").text, "fine, \"really\"");
  EXPECT_EQ(parsed(ReviewFormat::kTsv, "id\ttext here\t2\tmore", {}, 1, 2).rating, 200);
  EXPECT_EQ(parsed(ReviewFormat::kTsv, "4").reject, Reject::kNoText);
  EXPECT_EQ(parsed(ReviewFormat::kTsv, "good\tfine").reject, Reject::kNoRating);
  EXPECT_EQ(parsed(ReviewFormat::kTsv, "9\tfine").reject, Reject::kRatingRange);
}

TEST(CsvReviews, MayBeQuoted) {
  EXPECT_EQ(parsed(ReviewFormat::kCsv, "5,\"a, \"\"b\"\"\nc\",x").text, "a, \"b\"\nc");
  EXPECT_EQ(parsed(ReviewFormat::kCsv, "\"3\",plain").rating, 300);
  EXPECT_EQ(parsed(ReviewFormat::kCsv, "\"a\",\"b\",4", {}, 1, 2).text, "b");
  EXPECT_EQ(parsed(ReviewFormat::kCsv, "5").reject, Reject::kNoText);
}

}  // namespace
}  // namespace paceline
