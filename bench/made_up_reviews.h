// Made-up reviews as JSON lines, of about the size and the shape of Amazon's.
//
// Words follow Zipf's law over a million made-up ones, with the commonest English ones in front;
// one text in ten has been written before, by chance with other marks and another rating. A review
// is a function of its number alone.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include "base/random.h"
#include "made_up_clicks.h"

namespace bench {

inline constexpr std::uint64_t kReviewSeed = 20'240'517;

class MadeUpReviews {
 public:
  // Appends review `number` as a line.
  void append(std::uint64_t number, std::string& out) const {
    paceline::Random random(paceline::random_bits(kReviewSeed, {1, number}));
    // One in ten repeats the text of an earlier number.
    const bool repeated = number > 100 && random.below(10) == 0;
    const std::uint64_t text = repeated ? random.below(number) : number;
    const std::uint64_t rating = 1 + std::min<std::uint64_t>(4, random.below(9));
    out += fmt::format(
        "{{\"reviewerID\": \"A{:012X}\", \"asin\": \"B{:09}\", \"helpful\": [{}, {}], "
        "\"reviewText\": \"",
        random.bits() >> 16, random.below(1'000'000'000), random.below(9), random.below(20));
    append_text(text, out);
    out += fmt::format("\", \"overall\": {}.0, \"summary\": \"{} {}\", \"unixReviewTime\": {}}}\n",
                       rating, word(words_(random)), word(words_(random)),
                       1'200'000'000 + random.below(400'000'000));
  }

 private:
  void append_text(std::uint64_t text, std::string& out) const {
    paceline::Random random(paceline::random_bits(kReviewSeed, {2, text}));
    const auto count =
        static_cast<std::uint64_t>(5 + std::min(800.0, std::exp(3.9 + 0.8 * random.normal())));
    bool begins = true;
    for (std::uint64_t i = 0; i < count; ++i) {
      std::string next = word(words_(random));
      if (begins) next[0] = static_cast<char>(next[0] - 'a' + 'A');
      out += next;
      const std::uint64_t mark = random.below(40);
      begins = mark < 3;
      out += mark < 2    ? ". "
             : mark == 2 ? "!\\n"
             : mark < 6  ? ", "
             : mark == 6 ? " \\\"really\\\" "
                         : " ";
    }
  }

  // Number 1, 2, … in the order of frequency.
  static std::string word(std::uint64_t number) {
    constexpr std::array kCommon = {"the",   "i",    "and",  "a",    "it",  "to",
                                    "is",    "of",   "this", "in",   "for", "my",
                                    "was",   "that", "but",  "with", "not", "you",
                                    "great", "good", "on",   "have", "so",  "product"};
    if (number <= kCommon.size()) return kCommon[number - 1];
    std::string letters;
    for (std::uint64_t left = paceline::mix(number) % 1000 + number * 7; left > 0; left /= 19) {
      letters += static_cast<char>('a' + (left % 19 + 3 * letters.size()) % 26);
    }
    return letters;
  }

  Zipf words_{1'000'000, 1.25};
};

}  // namespace bench
