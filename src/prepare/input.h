// Files of raw reviews, and the portions of them that are read apart.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "prepare/tasks.h"

namespace paceline {

class PipedText;

enum class ReviewFormat {
  kAuto,
  kJson,
  kCsv,
  kTsv,
  kGrouped,  // clean text, rating, how often: see streaming.h
};

std::string name_of(ReviewFormat format);

// Which fields hold the text and the rating: names of JSON's fields or of columns, or numbers of
// columns, from 1. Empty: the usual names; of columns without names the first is the rating and the
// second the text.
struct ReviewFields {
  std::string text;
  std::string rating;
};
// The one that is given, or the usual ones, the first that is there counts.
std::vector<std::string> names_of_text(const ReviewFields& fields);
std::vector<std::string> names_of_rating(const ReviewFields& fields);
// Whether it is the number of a column; from 0 then.
std::optional<std::size_t> column_number(const std::string& field);

inline constexpr const char* kStandardInput = "-";

struct InputFile {
  std::filesystem::path path;  // kStandardInput: what is piped in
  std::uint64_t bytes = 0;     // as stored
  std::int64_t changed = 0;    // when, in nanoseconds
  bool compressed = false;     // and not piped in
  ReviewFormat format = ReviewFormat::kJson;
  bool header = false;  // the first line names the columns
  std::size_t text_column = 1;
  std::size_t rating_column = 0;
  std::optional<std::size_t> times_column;  // of how many reviews a line tells; otherwise of one

  std::shared_ptr<PipedText> pipe;  // can be read once

  bool piped() const { return path == kStandardInput; }
};

// Looks at each file that the names mean (a file, a folder, a pattern, "-"), sorted by path, none
// twice, and not at `output` where that lies in such a folder. Throws DataError when there is none,
// when one cannot be read, and when a column is missing; Interrupted when `stop` is set while
// nothing comes from a pipe.
std::vector<InputFile> find_inputs(const std::vector<std::string>& names, ReviewFormat format,
                                   const ReviewFields& fields, const StopFlag& stop,
                                   const std::filesystem::path& output = {});

// Lines that begin in [begin, end) of the file as it is stored.
struct Portion {
  std::size_t file = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Of about `bytes` each. A file that is compressed, piped in, or has quoted line ends is one
// portion.
std::vector<Portion> cut_into_portions(const std::vector<InputFile>& files, std::uint64_t bytes);

}  // namespace paceline
