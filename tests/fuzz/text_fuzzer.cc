// Any bytes as text: words that are clean and stay what they are when cleaned again, vocabularies
// that read back the same, and files of labelled texts that are refused with a line or read whole.
#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/file/file.h"
#include "base/temp_dir.h"
#include "data/clean.h"
#include "data/text.h"
#include "data/text_source.h"
#include "data/words.h"
#include "fuzz/fuzz_target.h"

namespace paceline {
namespace text_fuzzer {

std::string clean(std::string_view text) {
  std::string out = "before";
  append_clean(text, out);
  require(out.starts_with("before"));
  return out.substr(6);
}

std::vector<std::string> words_of(std::string_view text, Marks marks) {
  std::vector<std::string> words;
  for_each_word(text, marks, [&](std::string_view word) {
    require(!word.empty() && word.find(' ') == std::string_view::npos);
    words.emplace_back(word);
  });
  return words;
}

void check_clean(std::string_view text) {
  const std::string once = clean(text);
  require(clean(once) == once);
  require(once.find("  ") == std::string::npos);
  require(once.empty() || (once.front() != ' ' && once.back() != ' '));
  words_of(text, Marks::kWords);
  // Where a text is cut between words makes no difference.
  const std::size_t middle = text.find(' ', text.size() / 2);
  if (middle == std::string_view::npos) return;
  auto parts = words_of(text.substr(0, middle), Marks::kDropped);
  std::ranges::copy(words_of(text.substr(middle), Marks::kDropped), std::back_inserter(parts));
  require(parts == words_of(text, Marks::kDropped));
}

void check_vocabulary(std::string_view text) {
  WordCount counts;
  for (const std::string& word : words_of(text, Marks::kDropped)) counts.add(word);
  const Vocabulary vocabulary = counts.most_frequent(100);
  static const TempDir folder;
  write_vocabularies(TextKind::kReviews, {vocabulary}, folder.path());
  const std::vector<Vocabulary> again = read_vocabularies(TextKind::kReviews, folder.path());
  require(again.size() == 1 && again[0].words() == vocabulary.words());
  for (std::size_t i = 0; i < vocabulary.words().size(); ++i) {
    const auto number = static_cast<std::int32_t>(Vocabulary::kFirstWord + i);
    require(again[0].number(vocabulary.words()[i]) == number);
  }
}

// The numbers of the words of a text, as many as are kept.
std::vector<std::int32_t> numbers_of(std::string_view text, TextKind kind, const Vocabulary& words,
                                     const TextOptions& options) {
  std::vector<std::int32_t> numbers;
  const Marks marks = kind == TextKind::kReviews ? Marks::kDropped : Marks::kWords;
  for (const std::string& word : words_of(text, marks)) {
    if (numbers.size() < options.length) numbers.push_back(words.number(word));
  }
  return numbers;
}

// Every line of the split is an example, with its words as the vocabulary numbers them.
void check_content(const Dataset& dataset, TextKind kind, const TextOptions& options, Split split) {
  const std::vector<Vocabulary> words = vocabularies_of(kind, options, 0);
  std::uint64_t example = 0;
  const TextSource source(kind, options, split, 0);
  source.for_each([&](const TextLine& line) {
    Batch batch;
    dataset.read(std::span(&example, 1), batch);
    const auto row = [&](std::size_t number) {
      const auto tokens = sequence_of(batch.rows.at(0), number);
      return std::vector<std::int32_t>(tokens.begin(), tokens.end());
    };
    if (kind == TextKind::kReviews) {
      require(batch.labels.at(0) == (line.first == "1" ? 1 : 0) || line.first.size() > 1);
      require(row(0) == numbers_of(line.second, kind, words[0], options));
    } else {
      require(row(0) == numbers_of(line.first, kind, words[0], options));
      require(row(1) == numbers_of(line.second, kind, words[1], options));
    }
    ++example;
  });
  require(example == dataset.info().examples);
}

void check_file(FuzzBytes bytes, TextKind kind, std::uint64_t limit) {
  const BytesFile file(bytes);
  TextOptions options;
  options.file = file.path();
  options.vocabulary = 50;
  options.length = 7;
  for (const Split split : {Split::kTrain, Split::kTest}) {
    accepts<DataError>([&] {
      const auto estimate = estimate_texts(kind, options, split, limit, "fuzzed");
      const auto dataset = open_texts(kind, options, split, limit, "fuzzed");
      require(dataset->info().examples == estimate.examples);
      require(limit == 0 || split == Split::kTest || dataset->info().examples <= limit);
      if (limit == 0) check_content(*dataset, kind, options, split);
    });
  }
}

void run(FuzzBytes bytes) {
  const std::uint8_t choice = take_byte(bytes);
  if (choice == 4) return check_vocabulary(as_text(bytes));  // the disk makes it slow
  if (choice % 8 < 5) return check_clean(as_text(bytes));
  check_file(bytes, choice % 8 < 7 ? TextKind::kReviews : TextKind::kSentences, choice / 8 % 4);
}

}  // namespace text_fuzzer

const FuzzTarget kTextFuzzer{"text", text_fuzzer::run};

}  // namespace paceline
