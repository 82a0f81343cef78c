#include "prepare/streaming.h"

#include <fmt/format.h>

#include <limits>
#include <map>
#include <ostream>

#include "base/error.h"

namespace paceline {
namespace {

constexpr double kHundredths = 100;

void for_each_review(const std::vector<InputFile>& files, const PrepareSettings& settings,
                     const StopFlag& stop, ReadReport& report,
                     const std::function<void(std::string_view, const RawReview&)>& take) {
  for (const InputFile& file : files) {
    ReviewReader reader(file, {0, 0, std::numeric_limits<std::uint64_t>::max()}, settings, stop);
    reader.for_each(take);
    report.add(reader.report());
  }
}

// Large pieces; whoever reads them may have gone.
class Lines {
 public:
  explicit Lines(std::ostream& out) : out_(out) {}
  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    if (text_.size() >= (std::size_t{1} << 16)) flush();
  }
  void flush() {
    out_.write(text_.data(), static_cast<std::streamsize>(text_.size()));
    text_.clear();
    if (!out_.flush()) throw DataError("cannot write to standard output");
  }

 private:
  std::ostream& out_;
  std::string text_;
};

}  // namespace

ReadReport map_reviews(const std::vector<InputFile>& files, const PrepareSettings& settings,
                       const StopFlag& stop, std::ostream& out) {
  ReadReport report;
  Lines lines(out);
  for_each_review(files, settings, stop, report,
                  [&](std::string_view text, const RawReview& review) {
                    lines.add("{}\t{}\n", text, review.rating / kHundredths);
                  });
  lines.flush();
  return report;
}

ReadReport reduce_reviews(const std::vector<InputFile>& files, const PrepareSettings& settings,
                          const StopFlag& stop, std::ostream& out) {
  ReadReport report;
  Lines lines(out);
  std::string text;
  std::map<Rating, std::uint64_t> counts;  // of that text
  const auto tell = [&] {
    for (const auto& [rating, times] : counts) {
      lines.add("{}\t{}\t{}\n", text, rating / kHundredths, times);
    }
    counts.clear();
  };
  for_each_review(files, settings, stop, report,
                  [&](std::string_view next, const RawReview& review) {
                    if (next != text) {
                      tell();
                      text = next;
                    }
                    counts[review.rating] += review.times;
                  });
  tell();
  lines.flush();
  return report;
}

void write_counters(const ReadReport& report, std::ostream& err) {
  const auto count = [&](const char* name, std::uint64_t number) {
    if (number > 0) err << fmt::format("reporter:counter:paceline,{},{}\n", name, number);
  };
  count("reviews", report.rows);
  for (std::size_t i = 1; i < kRejects; ++i) {
    count(sentence_of(static_cast<Reject>(i)), report.rejected[i]);
  }
  count("bytes that are not UTF-8", report.replaced_bytes);
}

}  // namespace paceline
