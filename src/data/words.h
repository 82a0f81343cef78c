// Text → words → token numbers, and back.
//
// Letters become small; what is neither a letter nor a digit separates words. Inside a word
// an apostrophe is dropped: "Don't" is "dont". Where marks are dropped, clean.h tells what is a
// letter; where they are words, all bytes above 127 count as letters, so that UTF-8 passes through.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace paceline {

enum class Marks { kDropped, kWords };  // full stops, question marks and so on

// Calls `visit` with each word of `text`, in order; the view is valid during the call.
void for_each_word(std::string_view text, Marks marks,
                   const std::function<void(std::string_view)>& visit);

// Words by number. The first numbers mean no word. Some words may be left out of texts altogether.
class Vocabulary {
 public:
  enum Special : std::int32_t { kPadding, kUnknown, kBegin, kEnd, kFirstWord };

  Vocabulary() = default;
  // In the order of their numbers; and stop words, which have none.
  explicit Vocabulary(std::vector<std::string> words, std::vector<std::string> stop_words = {});

  // kUnknown when it is not among them.
  std::int32_t number(std::string_view word) const;
  std::string_view word(std::int32_t number) const;  // "?" for a number without a word
  bool leaves_out(std::string_view word) const;
  const std::vector<std::string>& words() const { return words_; }
  const std::vector<std::string>& stop_words() const { return stop_words_; }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  enum { kLeftOut = -1 };  // in place of a number
  std::vector<std::string> words_;
  std::vector<std::string> stop_words_;
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> numbers_;
};

// Counts words, and picks the most frequent.
class WordCount {
 public:
  void add(std::string_view word);
  // With at most `size` numbers, the special ones included. Among words that are equally
  // frequent the first in the alphabet wins: the result depends on the counts alone.
  Vocabulary most_frequent(std::uint32_t size) const;

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>> counts_;
};

}  // namespace paceline
