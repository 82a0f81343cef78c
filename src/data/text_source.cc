#include "data/text_source.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/random.h"
#include "base/units.h"
#include "data/gzip.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSampleSeed = 1;

const fs::path& file_of(const TextOptions& options, Split split) {
  return split == Split::kTest && !options.test_file.empty() ? options.test_file : options.file;
}

// Calls `each` with a visit that hands some of what it is given on to `visit`: all, or a random
// sample of `limit`, always the same one (Knuth's selection sampling).
template <typename Each, typename Visit>
void for_each_sampled(std::uint64_t limit, const Each& each, const Visit& visit) {
  if (limit == 0) return each(visit);
  std::uint64_t left = 0;
  each([&left](const auto&...) { ++left; });
  Random random(kSampleSeed);
  each([&](const auto&... item) {
    if (random.below(left--) >= limit) return;
    --limit;
    visit(item...);
  });
}

std::string_view take(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view taken = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return taken;
}

void for_each_of_split(const PreparedReviews& file, const TextOptions& options, Split split,
                       const PreparedReviews::Visit& visit) {
  if (split == Split::kTest && file.examples(PreparedPart::kTest) > 0) {
    return file.for_each(PreparedPart::kTest, visit);
  }
  const bool cut = options.test_file.empty() && file.examples(PreparedPart::kTest) == 0;
  file.for_each(PreparedPart::kTrain, [&](std::span<const std::int32_t> tokens,
                                          std::int32_t label) {
    const std::string_view key(reinterpret_cast<const char*>(tokens.data()), tokens.size_bytes());
    if (cut && is_for_test(key, options.test_share) != (split == Split::kTest)) return;
    visit(tokens, label);
  });
}

}  // namespace

std::string read_all(const fs::path& path) {
  GzipReader file(path);
  std::string text;
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  for (std::size_t got = kBlock; got == kBlock;) {
    const std::size_t before = text.size();
    text.resize(before + kBlock);
    got = file.read(std::as_writable_bytes(std::span(text).subspan(before)));
    text.resize(before + got);
  }
  return text;
}

TextSource::TextSource(TextKind kind, const TextOptions& options, Split split, std::uint64_t limit)
    : kind_(kind),
      split_(split),
      shared_(options.test_file.empty()),
      limit_(split == Split::kTrain ? limit : 0),
      test_share_(options.test_share),
      path_(file_of(options, split)),
      text_(read_all(path_)) {}

void TextSource::for_each(const Visit& visit) const {
  const auto each = [this](const Visit& visit_one) {
    for_each_line([&](const TextLine& line) {
      if (belongs(line)) visit_one(line);
    });
  };
  for_each_sampled(limit_, each, visit);
}

void TextSource::for_each_line(const Visit& visit) const {
  std::string_view rest = text_;
  for (std::uint64_t number = 1; !rest.empty(); ++number) {
    const std::string_view line = take(rest, '\n');
    if (!line.empty() && line != "\r") visit(parse(line, number));
  }
}

bool TextSource::belongs(const TextLine& line) const {
  if (!shared_) return true;
  const std::string_view key = kind_ == TextKind::kReviews ? line.second : line.first;
  return is_for_test(key, test_share_) == (split_ == Split::kTest);
}

TextLine TextSource::parse(std::string_view text, std::uint64_t number) const {
  TextLine line;
  line.number = number;
  line.first = take(text, '\t');
  if (text.empty()) {
    refuse(line, kind_ == TextKind::kReviews ? "expected LABEL<tab>TEXT"
                                             : "expected SENTENCE<tab>TRANSLATION");
  }
  line.second = take(text, '\t');
  return line;
}

std::int32_t TextSource::label_of(const TextLine& line) const {
  std::int32_t label = -1;
  const char* end = line.first.data() + line.first.size();
  if (std::from_chars(line.first.data(), end, label).ptr != end || (label != 0 && label != 1)) {
    refuse(line, fmt::format("the label is '{}', and must be 0 or 1", line.first.substr(0, 20)));
  }
  return label;
}

void TextSource::refuse(const TextLine& line, const std::string& reason) const {
  throw DataError("{}, line {}: {}", path_.string(), line.number, reason);
}

bool is_prepared(TextKind kind, const TextOptions& options, Split split) {
  return kind == TextKind::kReviews && PreparedReviews::is_one(file_of(options, split));
}

void for_each_prepared(const TextOptions& options, Split split, std::uint64_t limit,
                       const PreparedReviews::Visit& visit) {
  const fs::path& path = file_of(options, split);
  const PreparedReviews file(path);
  if (file.numbers() > options.vocabulary) {
    throw DataError("{} has {} numbers for words: set --vocabulary to no less", path.string(),
                    format_count(file.numbers()));
  }
  if (path != options.file &&
      (!PreparedReviews::is_one(options.file) ||
       PreparedReviews(options.file).vocabulary().words() != file.vocabulary().words())) {
    throw DataError("{} and {} number different words: prepare both together",
                    options.file.string(), path.string());
  }
  const auto each = [&](const PreparedReviews::Visit& visit_one) {
    for_each_of_split(file, options, split, visit_one);
  };
  for_each_sampled(split == Split::kTest ? 0 : limit, each, visit);
}

}  // namespace paceline
