// Reviews as numbers, in an HDF5 file; docs/prepared.md describes it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "data/prepared_ids.h"
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
  Vocabulary vocabulary() const;  // with the words that were left out
  std::string setting(const std::string& name) const;  // how it was prepared; empty: not told
  std::uint64_t examples(PreparedPart part) const;     // 0 when there is no such part

  std::vector<bool> labels(PreparedPart part) const;          // whether a review is positive
  std::unique_ptr<PreparedIds> ids(PreparedPart part) const;  // may outlive this
  std::uint64_t block_rows() const;                           // of the training part

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace paceline
