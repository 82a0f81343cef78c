// Any bytes as a file of raw reviews, of any format, plain or compressed: a DataError, or lines
// that are the same however the file is cut into portions, each of them a review or left out.
#include <cmath>
#include <vector>

#include "base/error.h"
#include "fuzz/fuzz_target.h"
#include "prepare/columns.h"
#include "prepare/input.h"
#include "prepare/line_reader.h"
#include "prepare/review_parser.h"

namespace paceline {
namespace review_fuzzer {

struct Parsed {
  std::vector<std::string> lines;
  std::vector<Reject> rejects;
  std::vector<std::string> texts;

  bool operator==(const Parsed&) const = default;
};

void read(const InputFile& file, const Portion& portion, Parsed& all) {
  const RatingRange range{1, 5};
  LineReader reader(file, portion);
  ReviewParser parser(file, {}, range);
  while (const auto line = reader.next()) {
    require(line->size() <= LineReader::kMostLineBytes);
    all.lines.emplace_back(*line);
    RawReview review;
    all.rejects.push_back(parser.parse(*line, review));
    require(*sentence_of(all.rejects.back()) != '\0');
    if (all.rejects.back() != Reject::kNone) continue;
    require(review.rating <= kHighestRating * 100 && review.times >= 1);
    all.texts.emplace_back(review.text);
  }
}

Parsed read_in(const std::vector<InputFile>& files, std::uint64_t portion_bytes) {
  Parsed all;
  for (const Portion& portion : cut_into_portions(files, portion_bytes)) {
    read(files[portion.file], portion, all);
  }
  return all;
}

// What ends a line is outside of quotes, and columns hold no separator that was not quoted.
void check_columns(std::string_view text) {
  const std::size_t end = end_of_csv_line(text);
  require(end == std::string_view::npos || (end <= text.size()));
  for (const auto kind : {Columns::Kind::kCsv, Columns::Kind::kTsv}) {
    Columns columns(kind);
    columns.begin(text);
    std::size_t bytes = 0;
    for (std::size_t count = 0; columns.more(); ++count) {
      require(count <= text.size());
      bytes += columns.next().size();
    }
    require(bytes <= text.size());
    require(columns.next().empty());
  }
}

// The first byte chooses the format, the second the number of portions.
void run(FuzzBytes bytes) {
  const auto format = static_cast<ReviewFormat>(take_byte(bytes) % 5);
  const std::uint64_t portions = 1 + take_byte(bytes) % 8;
  const BytesFile file(bytes);
  const StopFlag stop = false;
  check_columns(as_text(bytes));
  std::vector<InputFile> files;
  const bool found =
      accepts<DataError>([&] { files = find_inputs({file.path()}, format, {}, stop); });
  if (!found) return;
  Parsed whole;
  Parsed cut;
  const bool read = accepts<DataError>([&] { whole = read_in(files, bytes.size() + 1); });
  const bool again = accepts<DataError>([&] { cut = read_in(files, 1 + bytes.size() / portions); });
  require(read == again && (!read || whole == cut));
}

}  // namespace review_fuzzer

const FuzzTarget kReviewFuzzer{"review", review_fuzzer::run};

}  // namespace paceline
