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
namespace {

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
    });
  }
}

void run(FuzzBytes bytes) {
  const std::uint8_t choice = take_byte(bytes);
  if (choice == 4) return check_vocabulary(as_text(bytes));  // the disk makes it slow
  if (choice % 8 < 5) return check_clean(as_text(bytes));
  check_file(bytes, choice % 8 < 7 ? TextKind::kReviews : TextKind::kSentences, choice / 8 % 4);
}

}  // namespace

const FuzzTarget kTextFuzzer{"text", run};

}  // namespace paceline
