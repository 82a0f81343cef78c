// Which texts are the examples of a split, and where they are read from.
//
// A limit takes a sample of the file: files of texts are often sorted by label.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "data/dataset.h"
#include "data/prepared.h"
#include "data/text.h"

namespace paceline {

// All of a file, gzipped or not.
std::string read_all(const std::filesystem::path& path);

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

// The same for reviews that are numbers already.
bool is_prepared(TextKind kind, const TextOptions& options, Split split);
void for_each_prepared(const TextOptions& options, Split split, std::uint64_t limit,
                       const PreparedReviews::Visit& visit);

}  // namespace paceline
