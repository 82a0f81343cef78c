// Any bytes as the lists of words and names that lie in files, one a line: those of stop words, of
// a vocabulary, of classes. All are accepted, and read back the same when they are written again.
#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/file/file.h"
#include "base/temp_dir.h"
#include "base/text.h"
#include "data/catalogue/open.h"
#include "data/clean.h"
#include "data/text.h"
#include "fuzz/fuzz_target.h"
#include "prepare/stop_words.h"

namespace paceline {
namespace name_list_fuzzer {

void check_stop_words(FuzzBytes bytes) {
  const BytesFile file(bytes);
  const std::vector<std::string> words = read_stop_words(file.path());
  require(std::ranges::is_sorted(words, std::less_equal()));  // each once
  for (const std::string& word : words) {
    std::string cleaned;
    append_clean(word, cleaned);
    require(!word.empty() && cleaned == word);
  }
  const std::string written = join(words, "\n");
  const BytesFile again({reinterpret_cast<const std::uint8_t*>(written.data()), written.size()});
  require(read_stop_words(again.path()) == words);
}

// A run may lose its power while it is written: a vocabulary is any bytes, too.
void check_vocabulary(FuzzBytes bytes) {
  static const TempDir folder;
  std::size_t stop_bytes = take_byte(bytes);
  stop_bytes = std::min(stop_bytes, bytes.size());
  write_atomically(folder / kStopWords, as_text(bytes.first(stop_bytes)));
  write_atomically(folder / vocabulary_name(TextKind::kReviews, 0),
                   as_text(bytes.subspan(stop_bytes)));
  std::vector<Vocabulary> found;
  if (!accepts<DataError>([&] { found = read_vocabularies(TextKind::kReviews, folder.path()); })) {
    return;
  }
  require(found.size() == 1);
  const Vocabulary& vocabulary = found[0];
  for (const std::string& word : vocabulary.words()) {
    const std::int32_t number = vocabulary.number(word);
    require(vocabulary.leaves_out(word) ? number == Vocabulary::kUnknown
                                        : vocabulary.word(number) == word);
  }
  write_vocabularies(TextKind::kReviews, found, folder.path());
  const auto again = read_vocabularies(TextKind::kReviews, folder.path());
  require(again[0].words() == vocabulary.words());
  require(again[0].stop_words() == vocabulary.stop_words());
}

void check_classes(FuzzBytes bytes) {
  static const TempDir folder;
  write_atomically(folder / kClassNames, as_text(bytes));
  accepts<DataError>([&] {
    const std::vector<std::string> names = read_classes(folder.path());
    require(!names.empty());
    for (const std::string& name : names) {
      require(!name.empty() && name.find('\n') == std::string::npos);
    }
    write_atomically(folder / kClassNames, join(names, "\n") + "\n");
    require(read_classes(folder.path()) == names);
  });
}

void run(FuzzBytes bytes) {
  const std::uint8_t choice = take_byte(bytes);
  if (choice % 16 == 0) return check_vocabulary(bytes);  // the disk makes it slow
  if (choice % 16 == 1) return check_classes(bytes);
  check_stop_words(bytes);
}

}  // namespace name_list_fuzzer

const FuzzTarget kNameListFuzzer{"name_list", name_list_fuzzer::run};

}  // namespace paceline
