// What becomes of raw reviews: each step with what it is told. The same settings and the same
// reviews give the same content.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/text.h"
#include "prepare/input.h"
#include "prepare/review_parser.h"
#include "prepare/runs.h"

namespace paceline {

enum class ReviewPart { kTrain, kValidation, kTest };
inline constexpr std::size_t kReviewParts = 3;
const char* name_of(ReviewPart part);  // "train", …

enum class Duplicates {
  kGroup,  // equal texts become one, with the rating that most of them have
  kKeep,
};

inline constexpr std::uint32_t kMostVocabulary = 10'000'000;  // words

struct PrepareSettings {
  ReviewFormat format = ReviewFormat::kAuto;
  ReviewFields fields;
  RatingRange range;
  double negative_up_to = 3;
  double positive_from = 4;
  Duplicates duplicates = Duplicates::kGroup;
  std::vector<std::string> stop_words;
  double validation_share = 0;
  double test_share = 0;
  std::uint32_t vocabulary = 10'000;  // words
  std::vector<std::string> words;     // the vocabulary, when it is given
  std::uint32_t length = 100;
  TextCut cut = TextCut::kEnd;
};

// Throws ConfigError when they contradict themselves.
void check_settings(const PrepareSettings& settings);

// All that the content depends on, lists as they are.
nlohmann::json describe(const PrepareSettings& settings);

// By its hash, so that a text is never in two parts.
ReviewPart part_of(std::uint64_t hash, const PrepareSettings& settings);

// The rating that most have, and of several the lowest.
Rating settle(std::span<const RatingCount> ratings);

// Nothing: neither negative nor positive.
std::optional<std::uint8_t> label_of(Rating rating, const PrepareSettings& settings);

}  // namespace paceline
