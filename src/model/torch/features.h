// Numbers that were computed for examples, in a file that several processes share: what one
// has computed, the others find.
//
// The file is mapped and grows to what is needed. The kernel may drop its pages and read them
// again, so it takes no memory that others need. Without a file it is memory, of the rows alone
// that are kept.
// One thread uses an object; any number of objects may use a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace paceline {

class FeatureCache {
 public:
  FeatureCache() = default;  // keeps nothing
  // No file: for this object alone, in memory.
  FeatureCache(std::filesystem::path file, std::size_t width);
  ~FeatureCache();
  FeatureCache(FeatureCache&& other) noexcept;
  FeatureCache& operator=(FeatureCache&& other) noexcept;

  // Whether there are any for this example; fills `row`, of `width` numbers.
  bool find(std::uint64_t example, std::span<float> row);
  // Throws DataError when the file cannot be made or grown.
  void keep(std::uint64_t example, std::span<const float> row);

  std::uint64_t found() const { return found_; }  // how often

 private:
  std::string name() const;
  std::size_t slot_bytes() const;
  void reserve(std::uint64_t examples);
  void map(std::size_t bytes);
  void close();

  std::filesystem::path file_;
  std::size_t width_ = 0;
  int descriptor_ = -1;
  std::byte* data_ = nullptr;  // per example: whether it is there, then its numbers
  std::size_t mapped_ = 0;
  std::uint64_t found_ = 0;
};

}  // namespace paceline
