// Texts as examples, from tab-separated files: reviews with a label, or sentences with their
// translation. Reviews may be prepared ones, too: see prepared.h.
//
// A row of a batch is the sequences of one example, one behind the other: its length, then
// so many tokens, all 32-bit numbers. Nothing is padded here: a model pads to what a batch
// needs.
//
// The vocabulary is that of the training part alone. Without a file of its own the test
// part is chosen by a hash of the first sequence's text, so that equal texts are on the same
// side.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "data/dataset.h"
#include "data/order.h"
#include "data/words.h"

namespace paceline {

enum class TextKind {
  kReviews,    // LABEL <tab> TEXT
  kSentences,  // SENTENCE <tab> TRANSLATION
};
enum class TextCut { kEnd, kStart };  // what is left out of a text that is too long

struct TextOptions {
  std::filesystem::path file;       // plain or .gz; reviews: or prepared
  std::filesystem::path test_file;  // empty: a part of `file` is the test part
  double test_share = 0.05;
  std::uint32_t vocabulary = 10'000;  // token numbers per language, special ones included
  std::uint32_t length = 100;         // tokens of a text, at most
  TextCut cut = TextCut::kEnd;
  bool balanced = false;  // examples of rare labels weigh more, so that all labels weigh the same
  OrderOptions order;     // in which prepared reviews will be read: see prepared_dataset.h
};

// What a prepared file says of its words and rows; nothing when it is a file of texts.
struct PreparedSize {
  std::uint32_t vocabulary = 0;
  std::uint32_t length = 0;
  std::uint64_t block = 0;       // rows that are read together
  std::optional<TextCut> cut{};  // of longer texts, when it was prepared; nothing: it does not tell
};
std::optional<PreparedSize> prepared_size(const TextOptions& options);

// Sequence `number` of a row.
std::span<const std::int32_t> sequence_of(const std::uint8_t* row, std::size_t number);

// Reads, counts and numbers the words; those to test on by the vocabularies in the folder `words`,
// if one is given. Throws DataError naming the file and the line.
std::unique_ptr<Dataset> open_texts(TextKind kind, const TextOptions& options, Split split,
                                    std::uint64_t limit, const std::string& name,
                                    const std::filesystem::path& words = {});

// What opening would give; reads the files, but does not keep them.
DatasetInfo estimate_texts(TextKind kind, const TextOptions& options, Split split,
                           std::uint64_t limit, const std::string& name);

// One line of `file` each: a text, or a sentence whose translation is not known.
std::unique_ptr<Dataset> number_lines(TextKind kind, const TextOptions& options,
                                      const std::filesystem::path& file,
                                      const std::vector<Vocabulary>& vocabularies);

// Files in a run directory that keep them, a word per line. One of stop words is there when a
// prepared file names some.
inline constexpr const char* kStopWords = "stop_words.txt";
std::string vocabulary_name(TextKind kind, std::size_t number);
std::vector<Vocabulary> read_vocabularies(TextKind kind, const std::filesystem::path& folder);
void write_vocabularies(TextKind kind, const std::vector<Vocabulary>& vocabularies,
                        const std::filesystem::path& folder);

// The words of one language, or of both.
std::vector<Vocabulary> vocabularies_of(TextKind kind, const TextOptions& options,
                                        std::uint64_t limit);

}  // namespace paceline
