// Reviews as numbers, in an HDF5 file; docs/prepared.md describes it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>

#include "data/words.h"

namespace paceline {

inline constexpr std::uint32_t kPreparedVersion = 1;
inline constexpr const char* kPreparedVersionName = "paceline_reviews";  // an attribute

enum class PreparedPart { kTrain, kValidation, kTest };

// One thread at a time. Everything throws DataError naming the file and what is wrong with it.
class PreparedReviews {
 public:
  static bool is_one(const std::filesystem::path& file);  // by its first bytes

  explicit PreparedReviews(const std::filesystem::path& file);
  ~PreparedReviews();

  std::uint32_t length() const;   // tokens of a review, at most
  std::uint32_t numbers() const;  // tokens are below: the words, and what means no word
  Vocabulary vocabulary() const;
  std::uint64_t examples(PreparedPart part) const;  // 0 when there is no such part

  // Every review of a part in its order, without its padding.
  using Visit = std::function<void(std::span<const std::int32_t> tokens, std::int32_t label)>;
  void for_each(PreparedPart part, const Visit& visit) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace paceline
