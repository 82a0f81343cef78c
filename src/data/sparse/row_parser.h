// Lines of text → rows: LIBSVM's format, Criteo's click logs, Vowpal Wabbit's input.
//
//   libsvm  LABEL INDEX:VALUE INDEX:VALUE …        an index is a key, and must be below 2^bits
//   criteo  LABEL, 13 numbers, 26 words, separated by tabs; empty: missing
//   vw      LABEL [WEIGHT] [TAG]|NAMESPACE[:SCALE] FEATURE[:VALUE] … |NAMESPACE …
//
// Words become keys by a hash of the field or namespace and the word, cut to `bits` bits.
// Criteo's numbers are compressed to sign(x)·log(1 + |x|). Every row also has the constant
// feature, whose key is 2^bits and whose value is 1.
//
// A parser has no state: any thread, any number at once.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/sparse/row_builder.h"

namespace paceline {

enum class RowFormat { kAuto, kLibsvm, kCriteo, kVw };
enum class RowTarget { kClass, kNumber };  // labels are yes or no, or any number

struct RowFormatOptions {
  RowFormat format = RowFormat::kAuto;  // by the first line
  RowTarget target = RowTarget::kClass;
  std::uint32_t bits = 24;

  bool operator==(const RowFormatOptions&) const = default;
};

// Guesses from a line; kAuto when it looks like none of them.
RowFormat guess_format(std::string_view line);
std::string name_of(RowFormat format);

class RowParser {
 public:
  explicit RowParser(const RowFormatOptions& options);

  // Appends the row of `line`, which has no line end, to `rows`. Returns null, or what is wrong
  // with the line; then nothing was appended.
  const char* parse(std::string_view line, RowBuffer& rows) const;

  Key constant() const { return Key{1} << options_.bits; }

 private:
  bool parse_plain_libsvm(std::string_view line, RowBuilder& row) const;
  const char* parse_libsvm(std::string_view line, RowBuilder& row) const;
  const char* parse_criteo(std::string_view line, RowBuilder& row) const;
  const char* parse_vw(std::string_view line, RowBuilder& row) const;
  const char* label(float number, RowBuilder& row) const;
  Key key_of(std::uint64_t seed, std::string_view word) const;

  RowFormatOptions options_;
  std::array<std::uint64_t, 39> field_seeds_{};  // of Criteo's columns
};

}  // namespace paceline
