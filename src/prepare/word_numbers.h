// The vocabulary as numbers: what words mean in the output.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

// Words and their numbers; any number of threads.
class WordNumbers {
 public:
  explicit WordNumbers(const std::vector<std::string>& words);

  std::uint32_t number(std::string_view word) const;  // kUnknown when it is not among them
  std::uint32_t end() const { return end_; }          // all numbers are below

 private:
  struct Entry {
    std::uint64_t key = 0;
    std::uint32_t begin = 0;
    std::uint32_t bytes = 0;
    std::uint32_t number = 0;
  };
  std::string text_;
  std::vector<Entry> table_;
  unsigned shift_ = 0;  // of keys, to places
  std::uint32_t end_ = 0;
};

// Writes what the numbers of a segment (group_step.h) mean in the output: `count` of 32 bits.
void translate_list(const std::filesystem::path& list, std::uint32_t count,
                    const WordNumbers& numbers, const std::filesystem::path& path);

}  // namespace paceline
