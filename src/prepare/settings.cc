#include "prepare/settings.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/random.h"
#include "prepare/word_lists.h"

namespace paceline {

const char* name_of(ReviewPart part) {
  constexpr std::array kNames = {"train", "validation", "test"};
  return kNames[static_cast<std::size_t>(part)];
}

void check_settings(const PrepareSettings& settings) {
  if (!(settings.range.lowest >= 0 && settings.range.lowest < settings.range.highest &&
        settings.range.highest <= kHighestRating)) {
    throw ConfigError("ratings must go from 0 at least to {} at most, the lower one first",
                      kHighestRating);
  }
  if (!(settings.negative_up_to < settings.positive_from)) {
    throw ConfigError("--negative-up-to {} must be below --positive-from {}",
                      settings.negative_up_to, settings.positive_from);
  }
  if (!(settings.validation_share >= 0 && settings.test_share >= 0)) {
    throw ConfigError("--validation-share and --test-share must not be below 0");
  }
  if (!(settings.validation_share + settings.test_share < 1)) {
    throw ConfigError("--validation-share and --test-share must leave something to train on");
  }
  if (settings.length == 0 || settings.length > 65'535) {
    throw ConfigError("--length must be between 1 and 65,535");
  }
  if ((settings.vocabulary == 0 && settings.words.empty()) ||
      settings.vocabulary > kMostVocabulary) {
    throw ConfigError("--vocabulary must be between 1 and {}", kMostVocabulary);
  }
  if (settings.words.size() > kMostVocabulary) {
    throw ConfigError("a --vocabulary-file may have at most {} words", kMostVocabulary);
  }
  for (const std::string& word : settings.words) {
    if (word.size() <= kLongestWord) continue;
    throw ConfigError("the word '{}…' of --vocabulary-file has more than {} bytes",
                      word.substr(0, 20), kLongestWord);
  }
}

nlohmann::json describe(const PrepareSettings& settings) {
  return {{"format", name_of(settings.format)},
          {"text_field", settings.fields.text},
          {"rating_field", settings.fields.rating},
          {"lowest_rating", settings.range.lowest},
          {"highest_rating", settings.range.highest},
          {"negative_up_to", settings.negative_up_to},
          {"positive_from", settings.positive_from},
          {"duplicates", settings.duplicates == Duplicates::kGroup ? "group" : "keep"},
          {"stop_words", settings.stop_words},
          {"validation_share", settings.validation_share},
          {"test_share", settings.test_share},
          {"vocabulary", settings.words.empty() ? settings.vocabulary : settings.words.size()},
          {"words", settings.words},
          {"length", settings.length},
          {"cut", settings.cut == TextCut::kEnd ? "end" : "start"}};
}

ReviewPart part_of(std::uint64_t hash, const PrepareSettings& settings) {
  constexpr double kScale = 1.0 / 9007199254740992.0;  // 2^-53
  const double place = static_cast<double>(mix(hash) >> 11) * kScale;
  if (place < settings.test_share) return ReviewPart::kTest;
  if (place < settings.test_share + settings.validation_share) return ReviewPart::kValidation;
  return ReviewPart::kTrain;
}

Rating settle(std::span<const RatingCount> ratings) {
  const RatingCount* best = ratings.data();
  for (const RatingCount& rating : ratings) {
    if (rating.count > best->count) best = &rating;
  }
  return static_cast<Rating>(best->rating);
}

std::optional<std::uint8_t> label_of(Rating rating, const PrepareSettings& settings) {
  if (rating <= settings.negative_up_to * 100 + 0.5) return std::uint8_t{0};
  if (rating >= settings.positive_from * 100 - 0.5) return std::uint8_t{1};
  return std::nullopt;
}

}  // namespace paceline
