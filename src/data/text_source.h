// Which texts are the examples of a split, and where they are read from.
//
// A limit takes a sample of the file: files of texts are often sorted by label.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/random.h"
#include "data/dataset.h"
#include "data/text.h"

namespace paceline {

// All of a file, gzipped or not.
std::string read_all(const std::filesystem::path& path);

// The file that a split is read from, and whether it is one of reviews that are numbers already.
const std::filesystem::path& file_of(const TextOptions& options, Split split);
bool is_prepared(TextKind kind, const TextOptions& options, Split split);

DatasetInfo text_info(TextKind kind, const TextOptions& options, const std::string& name,
                      std::uint64_t examples, std::uint64_t memory);

// What makes every label weigh as much as any other. Throws DataError when there is none of one.
std::array<float, 2> balanced_weights(const std::array<std::uint64_t, 2>& counts,
                                      const std::string& name);

// Chooses `limit` of `all` that it is asked for one after the other, always the same ones (Knuth's
// selection sampling).
class Sample {
 public:
  Sample(std::uint64_t all, std::uint64_t limit) : left_(all), limit_(limit) {}
  bool takes();

 private:
  static constexpr std::uint64_t kSeed = 1;
  std::uint64_t left_;
  std::uint64_t limit_;
  Random random_{kSeed};
};

// One line, cut at its first tabs.
struct TextLine {
  std::string_view first;
  std::string_view second;
  std::uint64_t number = 0;
};

// The lines of one split, in the order of their file.
class TextSource {
 public:
  using Visit = std::function<void(const TextLine&)>;

  TextSource(TextKind kind, const TextOptions& options, Split split, std::uint64_t limit);

  // Throws DataError naming the file and the line.
  void for_each(const Visit& visit) const;
  std::int32_t label_of(const TextLine& line) const;

 private:
  void for_each_line(const Visit& visit) const;  // of both splits; every line that holds something
  bool belongs(const TextLine& line) const;
  TextLine parse(std::string_view text, std::uint64_t number) const;
  [[noreturn]] void refuse(const TextLine& line, const std::string& reason) const;

  TextKind kind_;
  Split split_;
  bool shared_;          // one file for both splits
  std::uint64_t limit_;  // 0: none
  double test_share_;
  std::filesystem::path path_;
  std::string text_;
};

}  // namespace paceline
