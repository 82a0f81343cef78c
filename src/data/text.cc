#include "data/text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file/file.h"
#include "base/text.h"
#include "data/prepared.h"
#include "data/prepared_dataset.h"
#include "data/text_source.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

std::size_t languages(TextKind kind) {
  return kind == TextKind::kSentences ? 2 : 1;
}

Marks marks_of(TextKind kind) {
  return kind == TextKind::kReviews ? Marks::kDropped : Marks::kWords;
}

std::vector<Vocabulary> count_words(TextKind kind, const TextOptions& options,
                                    const TextSource& training) {
  std::vector<WordCount> counts(languages(kind));
  training.for_each([&](const TextLine& line) {
    const auto count = [&](std::string_view text, WordCount& into) {
      for_each_word(text, marks_of(kind), [&](std::string_view word) { into.add(word); });
    };
    count(line.second, counts.back());
    if (kind == TextKind::kSentences) count(line.first, counts.front());
  });
  std::vector<Vocabulary> vocabularies;
  vocabularies.reserve(counts.size());
  for (const WordCount& count : counts) {
    vocabularies.push_back(count.most_frequent(options.vocabulary));
  }
  return vocabularies;
}

// Of a file with one on each line.
std::vector<std::string> words_in(const fs::path& file) {
  std::vector<std::string> words = split(read_all(file), '\n');
  while (!words.empty() && words.back().empty()) words.pop_back();
  return words;
}

// Those of a run that was trained on other words would name words that the model does not have.
void expect_known(const std::vector<Vocabulary>& vocabularies, const TextOptions& options) {
  for (const Vocabulary& vocabulary : vocabularies) {
    const std::size_t words = vocabulary.words().size();
    if (words == 0 || words + Vocabulary::kFirstWord <= options.vocabulary) continue;
    throw DataError(
        "a vocabulary has {} words, and the model knows {} numbers: it is damaged, or of another "
        "run",
        words, options.vocabulary);
  }
}

class TextDataset final : public Dataset {
 public:
  // Of lines of text alone.
  TextDataset(TextKind kind, const TextOptions& options, const fs::path& file,
              const std::vector<Vocabulary>& vocabularies)
      : kind_(kind), options_(options) {
    std::vector<std::string> lines = split(read_all(file), '\n');
    if (!lines.empty() && lines.back().empty()) lines.pop_back();  // behind the last line's end
    for (const std::string& line : lines) {
      starts_.push_back(tokens_.size());
      add(line, vocabularies.front());
      if (kind == TextKind::kSentences) tokens_.push_back(0);
    }
    labels_.resize(starts_.size());
    info_ = text_info(kind, options, file.string(), starts_.size(), 0);
  }

  TextDataset(TextKind kind, const TextOptions& options, const TextSource& source,
              const std::vector<Vocabulary>& vocabularies, const std::string& name)
      : kind_(kind), options_(options) {
    source.for_each([&](const TextLine& line) {
      starts_.push_back(tokens_.size());
      if (kind == TextKind::kSentences) add(line.first, vocabularies.front());
      if (kind == TextKind::kReviews) labels_.push_back(source.label_of(line));
      add(line.second, vocabularies.back());
    });
    labels_.resize(starts_.size());
    settle(name);
  }

  void balance() {
    std::array<std::uint64_t, 2> counts{};
    for (const std::int32_t label : labels_) ++counts[static_cast<std::size_t>(label)];
    const auto weights = balanced_weights(counts, info_.name);
    weights_.assign(weights.begin(), weights.end());
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
    for_each_word(text, marks_of(kind_), [&](std::string_view word) {
      if (!vocabulary.leaves_out(word)) tokens_.push_back(vocabulary.number(word));
    });
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
    info_ = text_info(kind_, options_, name, starts_.size(),
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
  PreparedSize size{file.numbers(), file.length(), file.block_rows()};
  const std::string cut = file.setting("cut");
  if (cut == "end") size.cut = TextCut::kEnd;
  if (cut == "start") size.cut = TextCut::kStart;
  return size;
}

std::unique_ptr<Dataset> open_texts(TextKind kind, const TextOptions& options, Split split,
                                    std::uint64_t limit, const std::string& name,
                                    const fs::path& words) {
  if (is_prepared(kind, options, split)) return open_prepared(options, split, limit, name);
  if (split == Split::kTest) {
    const TextSource testing(kind, options, Split::kTest, 0);
    const auto vocabularies =
        words.empty() ? vocabularies_of(kind, options, limit) : read_vocabularies(kind, words);
    expect_known(vocabularies, options);
    return std::make_unique<TextDataset>(kind, options, testing, vocabularies, name);
  }
  const TextSource training(kind, options, Split::kTrain, limit);
  const auto vocabularies = count_words(kind, options, training);
  auto dataset = std::make_unique<TextDataset>(kind, options, training, vocabularies, name);
  if (options.balanced) dataset->balance();
  return dataset;
}

DatasetInfo estimate_texts(TextKind kind, const TextOptions& options, Split split,
                           std::uint64_t limit, const std::string& name) {
  DatasetInfo info;
  if (is_prepared(kind, options, split)) {
    info = estimate_prepared(options, split, limit, name);
  } else {
    std::uint64_t examples = 0;
    std::uint64_t bytes = 0;
    TextSource(kind, options, split, limit).for_each([&](const TextLine& line) {
      ++examples;
      bytes +=
          12 + sizeof(std::int32_t) * std::min<std::size_t>(options.length, line.second.size() / 5);
    });
    info = text_info(kind, options, name, examples, bytes);
  }
  if (info.examples == 0) {
    throw DataError("{} has no example: {} is empty, or no line of it is for this part", name,
                    file_of(options, split).string());
  }
  return info;
}

std::unique_ptr<Dataset> number_lines(TextKind kind, const TextOptions& options,
                                      const fs::path& file,
                                      const std::vector<Vocabulary>& vocabularies) {
  expect_known(vocabularies, options);
  return std::make_unique<TextDataset>(kind, options, file, vocabularies);
}

std::string vocabulary_name(TextKind kind, std::size_t number) {
  if (kind == TextKind::kReviews) return "vocabulary.txt";
  return number == 0 ? "vocabulary-source.txt" : "vocabulary-target.txt";
}

std::vector<Vocabulary> read_vocabularies(TextKind kind, const fs::path& folder) {
  std::vector<std::string> stop_words;
  if (kind == TextKind::kReviews && fs::exists(folder / kStopWords)) {
    stop_words = words_in(folder / kStopWords);
  }
  std::vector<Vocabulary> vocabularies;
  for (std::size_t i = 0; i < languages(kind); ++i) {
    vocabularies.emplace_back(words_in(folder / vocabulary_name(kind, i)), stop_words);
  }
  return vocabularies;
}

void write_vocabularies(TextKind kind, const std::vector<Vocabulary>& vocabularies,
                        const fs::path& folder) {
  for (std::size_t i = 0; i < vocabularies.size(); ++i) {
    write_atomically(folder / vocabulary_name(kind, i), join(vocabularies[i].words(), "\n") + "\n");
  }
  const std::vector<std::string>& stop_words = vocabularies.front().stop_words();
  if (stop_words.empty()) {
    std::error_code ignored;
    fs::remove(folder / kStopWords, ignored);  // of a run that was here before
  } else {
    write_atomically(folder / kStopWords, join(stop_words, "\n") + "\n");
  }
}

std::vector<Vocabulary> vocabularies_of(TextKind kind, const TextOptions& options,
                                        std::uint64_t limit) {
  if (is_prepared(kind, options, Split::kTrain)) {
    return {PreparedReviews(options.file).vocabulary()};
  }
  return count_words(kind, options, TextSource(kind, options, Split::kTrain, limit));
}

}  // namespace paceline
