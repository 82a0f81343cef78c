#include "data/text_source.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "data/gzip.h"
#include "data/prepared.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

std::string_view take(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view taken = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return taken;
}

}  // namespace

const fs::path& file_of(const TextOptions& options, Split split) {
  return split == Split::kTest && !options.test_file.empty() ? options.test_file : options.file;
}

bool is_prepared(TextKind kind, const TextOptions& options, Split split) {
  return kind == TextKind::kReviews && PreparedReviews::is_one(file_of(options, split));
}

DatasetInfo text_info(TextKind kind, const TextOptions& options, const std::string& name,
                      std::uint64_t examples, std::uint64_t memory) {
  const bool pairs = kind == TextKind::kSentences;
  DatasetInfo info;
  info.name = name;
  info.examples = examples;
  info.width = (options.length + 1) * sizeof(std::int32_t) * (pairs ? 2 : 1);
  info.classes = pairs ? static_cast<std::int32_t>(options.vocabulary) : 2;
  info.memory_bytes = memory;
  info.text = {pairs ? 2U : 1U, options.length, options.vocabulary};
  return info;
}

std::array<float, 2> balanced_weights(const std::array<std::uint64_t, 2>& counts,
                                      const std::string& name) {
  std::array<float, 2> weights{};
  for (std::size_t label = 0; label < 2; ++label) {
    if (counts[label] == 0) throw DataError("{} has no example of label {}", name, label);
    weights[label] = static_cast<float>(static_cast<double>(counts[0] + counts[1]) /
                                        (2 * static_cast<double>(counts[label])));
  }
  return weights;
}

bool Sample::takes() {
  if (random_.below(left_--) >= limit_) return false;
  --limit_;
  return true;
}

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
  if (limit_ == 0) return each(visit);
  std::uint64_t all = 0;
  each([&all](const TextLine&) { ++all; });
  Sample sample(all, limit_);
  each([&](const TextLine& line) {
    if (sample.takes()) visit(line);
  });
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

}  // namespace paceline
