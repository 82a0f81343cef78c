#include "data/text.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "base/units.h"
#include "data/gzip.h"
#include "data/prepared.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

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

// One line, cut at its first tabs.
struct Line {
  std::string_view first;
  std::string_view second;
  std::uint64_t number = 0;
};

class TextFile {
 public:
  TextFile(TextKind kind, const fs::path& path) : kind_(kind), path_(path), text_(read_all(path)) {}

  // Calls `visit` with every line that holds something.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    std::string_view rest = text_;
    for (std::uint64_t number = 1; !rest.empty(); ++number) {
      const std::string_view line = take(rest, '\n');
      if (line.empty() || line == "\r") continue;
      visit(parse(line, number));
    }
  }

  [[noreturn]] void refuse(const Line& line, const std::string& reason) const {
    throw DataError("{}, line {}: {}", path_.string(), line.number, reason);
  }

  std::int32_t label_of(const Line& line) const {
    std::int32_t label = -1;
    const char* end = line.first.data() + line.first.size();
    if (std::from_chars(line.first.data(), end, label).ptr != end || (label != 0 && label != 1)) {
      refuse(line, fmt::format("the label is '{}', and must be 0 or 1", line.first.substr(0, 20)));
    }
    return label;
  }

 private:
  static std::string_view take(std::string_view& rest, char separator) {
    const std::size_t end = std::min(rest.find(separator), rest.size());
    const std::string_view taken = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return taken;
  }

  Line parse(std::string_view rest, std::uint64_t number) const {
    Line line;
    line.number = number;
    line.first = take(rest, '\t');
    if (rest.empty()) {
      refuse(line, kind_ == TextKind::kReviews ? "expected LABEL<tab>TEXT"
                                               : "expected SENTENCE<tab>TRANSLATION");
    }
    line.second = take(rest, '\t');
    return line;
  }

  TextKind kind_;
  fs::path path_;
  std::string text_;
};

// Which lines of which file are examples of a split.
class Selection {
 public:
  Selection(TextKind kind, const TextOptions& options, Split split, std::uint64_t limit)
      : kind_(kind),
        split_(split),
        shared_(options.test_file.empty()),
        limit_(split == Split::kTrain && limit > 0 ? limit : UINT64_MAX),
        test_share_(options.test_share),
        file_(kind, split == Split::kTest && !shared_ ? options.test_file : options.file) {}

  const TextFile& file() const { return file_; }

  template <typename Visit>
  void for_each(const Visit& visit) const {
    std::uint64_t taken = 0;
    file_.for_each([&](const Line& line) {
      if (taken >= limit_ || !belongs(line)) return;
      ++taken;
      visit(line);
    });
  }

 private:
  bool belongs(const Line& line) const {
    if (!shared_) return true;
    const std::string_view key = kind_ == TextKind::kReviews ? line.second : line.first;
    return is_for_test(key, test_share_) == (split_ == Split::kTest);
  }

  TextKind kind_;
  Split split_;
  bool shared_;  // one file for both splits
  std::uint64_t limit_;
  double test_share_;
  TextFile file_;
};

std::size_t languages(TextKind kind) {
  return kind == TextKind::kSentences ? 2 : 1;
}

Marks marks_of(TextKind kind) {
  return kind == TextKind::kReviews ? Marks::kDropped : Marks::kWords;
}

std::vector<Vocabulary> count_words(TextKind kind, const TextOptions& options,
                                    const Selection& training) {
  std::vector<WordCount> counts(languages(kind));
  training.for_each([&](const Line& line) {
    const auto count = [&](std::string_view text, WordCount& into) {
      for_each_word(text, marks_of(kind), [&](std::string_view word) { into.add(word); });
    };
    count(line.second, counts.back());
    if (kind == TextKind::kSentences) count(line.first, counts.front());
  });
  std::vector<Vocabulary> vocabularies;
  for (const WordCount& count : counts) {
    vocabularies.push_back(count.most_frequent(options.vocabulary));
  }
  return vocabularies;
}

DatasetInfo info_of(TextKind kind, const TextOptions& options, const std::string& name,
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

bool is_prepared(TextKind kind, const TextOptions& options, Split split) {
  const bool own_tests = split == Split::kTest && !options.test_file.empty();
  return kind == TextKind::kReviews &&
         PreparedReviews::is_one(own_tests ? options.test_file : options.file);
}

// Calls `visit` with the reviews of a split.
void for_each_prepared(const TextOptions& options, Split split, std::uint64_t limit,
                       const PreparedReviews::Visit& visit) {
  const bool shared = options.test_file.empty();
  const fs::path& path = split == Split::kTest && !shared ? options.test_file : options.file;
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
  std::uint64_t left = split == Split::kTrain && limit > 0 ? limit : UINT64_MAX;
  const auto take = [&](std::span<const std::int32_t> tokens, std::int32_t label) {
    if (left == 0) return;
    --left;
    visit(tokens, label);
  };
  if (split == Split::kTest && file.examples(PreparedPart::kTest) > 0) {
    return file.for_each(PreparedPart::kTest, take);
  }
  const bool cut = shared && file.examples(PreparedPart::kTest) == 0;
  file.for_each(PreparedPart::kTrain, [&](std::span<const std::int32_t> tokens,
                                          std::int32_t label) {
    const std::string_view key(reinterpret_cast<const char*>(tokens.data()), tokens.size_bytes());
    if (cut && is_for_test(key, options.test_share) != (split == Split::kTest)) return;
    take(tokens, label);
  });
}

class TextDataset final : public Dataset {
 public:
  // Of reviews that are numbers already.
  TextDataset(const TextOptions& options, Split split, std::uint64_t limit, const std::string& name)
      : kind_(TextKind::kReviews), options_(options) {
    for_each_prepared(options, split, limit,
                      [&](std::span<const std::int32_t> tokens, std::int32_t label) {
                        starts_.push_back(tokens_.size());
                        tokens_.push_back(0);
                        tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
                        end_sequence(starts_.back());
                        labels_.push_back(label);
                      });
    settle(name);
  }

  // Of lines of text alone.
  TextDataset(TextKind kind, const TextOptions& options, const fs::path& file,
              const std::vector<Vocabulary>& vocabularies)
      : kind_(kind), options_(options) {
    for (const std::string& line : split(read_all(file), '\n')) {
      if (line.empty()) continue;
      starts_.push_back(tokens_.size());
      add(line, vocabularies.front());
      if (kind == TextKind::kSentences) tokens_.push_back(0);
    }
    labels_.resize(starts_.size());
    info_ = info_of(kind, options, file.string(), starts_.size(), 0);
  }

  TextDataset(TextKind kind, const TextOptions& options, const Selection& selection,
              const std::vector<Vocabulary>& vocabularies, const std::string& name)
      : kind_(kind), options_(options) {
    selection.for_each([&](const Line& line) {
      starts_.push_back(tokens_.size());
      if (kind == TextKind::kSentences) add(line.first, vocabularies.front());
      if (kind == TextKind::kReviews) labels_.push_back(selection.file().label_of(line));
      add(line.second, vocabularies.back());
    });
    labels_.resize(starts_.size());
    settle(name);
  }

  // What makes every label weigh as much as any other.
  void balance() {
    std::array<double, 2> counts{};
    for (const std::int32_t label : labels_) ++counts[static_cast<std::size_t>(label)];
    for (std::size_t label = 0; label < 2; ++label) {
      if (counts[label] == 0) throw DataError("{} has no example of label {}", info_.name, label);
      weights_.push_back(
          static_cast<float>(static_cast<double>(labels_.size()) / (2 * counts[label])));
    }
  }

  const DatasetInfo& info() const override { return info_; }

  void read(std::span<const std::uint64_t> examples, Batch& batch) const override {
    batch.rows.resize(examples.size());
    batch.labels.resize(examples.size());
    batch.weights.clear();
    batch.weight = 0;
    for (std::size_t i = 0; i < examples.size(); ++i) {
      PACELINE_CHECK(examples[i] < info_.examples);
      const std::int32_t* row = tokens_.data() + starts_[examples[i]];
      batch.rows[i] = reinterpret_cast<const std::uint8_t*>(row);
      batch.labels[i] = labels_[examples[i]];
      float weight = 1;
      if (kind_ == TextKind::kSentences) {
        weight = static_cast<float>(sequence_of(batch.rows[i], 1).size() + 1);  // and the end
      } else if (!weights_.empty()) {
        weight = weights_[static_cast<std::size_t>(batch.labels[i])];
      }
      batch.weights.push_back(weight);
      batch.weight += weight;
    }
    batch.width = info_.width;
  }

 private:
  void add(std::string_view text, const Vocabulary& vocabulary) {
    const std::size_t start = tokens_.size();
    tokens_.push_back(0);
    for_each_word(text, marks_of(kind_),
                  [&](std::string_view word) { tokens_.push_back(vocabulary.number(word)); });
    end_sequence(start);
  }

  void end_sequence(std::size_t start) {
    const std::size_t count = tokens_.size() - start - 1;
    if (count > options_.length) {
      const auto first = tokens_.begin() + static_cast<std::ptrdiff_t>(start + 1);
      const auto extra = static_cast<std::ptrdiff_t>(count - options_.length);
      if (options_.cut == TextCut::kStart) std::copy(first + extra, tokens_.end(), first);
      tokens_.resize(start + 1 + options_.length);
    }
    tokens_[start] = static_cast<std::int32_t>(tokens_.size() - start - 1);
  }

  void settle(const std::string& name) {
    tokens_.shrink_to_fit();
    info_ = info_of(kind_, options_, name, starts_.size(),
                    tokens_.size() * sizeof(std::int32_t) + starts_.size() * 12);
  }

  TextKind kind_;
  TextOptions options_;
  DatasetInfo info_;
  std::vector<std::int32_t> tokens_;  // rows, one behind the other
  std::vector<std::uint64_t> starts_;
  std::vector<std::int32_t> labels_;
  std::vector<float> weights_;  // of the labels; empty: all 1
};

}  // namespace

std::span<const std::int32_t> sequence_of(const std::uint8_t* row, std::size_t number) {
  const auto* at = reinterpret_cast<const std::int32_t*>(row);
  for (; number > 0; --number) at += 1 + *at;
  return {at + 1, static_cast<std::size_t>(*at)};
}

std::optional<PreparedSize> prepared_size(const TextOptions& options) {
  if (!PreparedReviews::is_one(options.file)) return std::nullopt;
  const PreparedReviews file(options.file);
  return PreparedSize{file.numbers(), file.length()};
}

std::unique_ptr<Dataset> open_texts(TextKind kind, const TextOptions& options, Split split,
                                    std::uint64_t limit, const std::string& name) {
  if (split == Split::kTest && !is_prepared(kind, options, split)) {
    const Selection testing(kind, options, Split::kTest, 0);
    return std::make_unique<TextDataset>(kind, options, testing,
                                         vocabularies_of(kind, options, limit), name);
  }
  std::unique_ptr<TextDataset> dataset;
  if (is_prepared(kind, options, split)) {
    dataset = std::make_unique<TextDataset>(options, split, limit, name);
  } else {
    const Selection training(kind, options, Split::kTrain, limit);
    const auto vocabularies = count_words(kind, options, training);
    dataset = std::make_unique<TextDataset>(kind, options, training, vocabularies, name);
  }
  if (options.balanced && split == Split::kTrain) dataset->balance();
  return dataset;
}

DatasetInfo estimate_texts(TextKind kind, const TextOptions& options, Split split,
                           std::uint64_t limit, const std::string& name) {
  std::uint64_t examples = 0;
  std::uint64_t bytes = 0;
  if (is_prepared(kind, options, split)) {
    for_each_prepared(options, split, limit,
                      [&](std::span<const std::int32_t> tokens, std::int32_t) {
                        ++examples;
                        bytes += 16 + tokens.size_bytes();
                      });
  } else {
    Selection(kind, options, split, limit).for_each([&](const Line& line) {
      ++examples;
      bytes +=
          12 + sizeof(std::int32_t) * std::min<std::size_t>(options.length, line.second.size() / 5);
    });
  }
  if (examples == 0) {
    throw DataError(
        "{} has no example: {} is empty", name,
        (split == Split::kTest && !options.test_file.empty() ? options.test_file : options.file)
            .string());
  }
  return info_of(kind, options, name, examples, bytes);
}

std::unique_ptr<Dataset> number_lines(TextKind kind, const TextOptions& options,
                                      const fs::path& file,
                                      const std::vector<Vocabulary>& vocabularies) {
  return std::make_unique<TextDataset>(kind, options, file, vocabularies);
}

std::string vocabulary_name(TextKind kind, std::size_t number) {
  if (kind == TextKind::kReviews) return "vocabulary.txt";
  return number == 0 ? "vocabulary-source.txt" : "vocabulary-target.txt";
}

std::vector<Vocabulary> read_vocabularies(TextKind kind, const fs::path& folder) {
  std::vector<Vocabulary> vocabularies;
  for (std::size_t i = 0; i < languages(kind); ++i) {
    std::vector<std::string> words = split(read_all(folder / vocabulary_name(kind, i)), '\n');
    while (!words.empty() && words.back().empty()) words.pop_back();
    vocabularies.emplace_back(std::move(words));
  }
  return vocabularies;
}

std::vector<Vocabulary> vocabularies_of(TextKind kind, const TextOptions& options,
                                        std::uint64_t limit) {
  if (is_prepared(kind, options, Split::kTrain)) {
    return {PreparedReviews(options.file).vocabulary()};
  }
  return count_words(kind, options, Selection(kind, options, Split::kTrain, limit));
}

}  // namespace paceline
