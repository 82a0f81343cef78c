#include "prepare/stop_words.h"

#include <algorithm>

#include "base/file/file.h"
#include "base/text.h"
#include "data/clean.h"

namespace paceline {
namespace {

// "not", "no" and their kin stay: they turn an opinion around.
constexpr std::string_view kEnglish =
    "a about above after again all also although always am among an and another any anybody "
    "anyone anything are around as at away back be became because become been before began being "
    "below beside besides between both but by came can come could did do does doing done down "
    "during each either else etc even ever every everybody everyone everything few first for from "
    "further gave give given go goes going gone got had has have having he her here hers herself "
    "him himself his how however i id if ill im in indeed instead into is it itd itll its itself "
    "ive just kept last later least let lets made make makes many may maybe me meanwhile might "
    "mine more most much must my myself near next now of off often on once one only onto or other "
    "others our ours ourselves out over own per perhaps put quite rather really s said same saw "
    "say says second see seem seemed seems seen several shall she should since so some somebody "
    "someone something somewhat still such t take taken tell than that thats the their theirs "
    "them themselves then there therefore theres these they theyre theyve thing things this those "
    "though three through throughout thus till to together too took toward towards two under "
    "unless until up upon us use used uses using usually various very via was way we well went "
    "were weve what whatever when whenever where wherever whether which while who whoever whole "
    "whom whose why will with within yet you youd youll your youre yours yourself yourselves youve";
constexpr std::string_view kOfReviews = "product would get";

}  // namespace

const std::vector<std::string>& default_stop_words() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> all = split(kEnglish, ' ');
    for (const std::string& word : split(kOfReviews, ' ')) all.push_back(word);
    std::sort(all.begin(), all.end());
    return all;
  }();
  return words;
}

std::vector<std::string> read_stop_words(const std::filesystem::path& file) {
  std::vector<std::string> words;
  for (const std::string& line : split(read_text(file), '\n')) {
    std::string cleaned;
    append_clean(std::string_view(line).substr(0, line.find('#')), cleaned);
    for (const std::string& word : split(cleaned, ' ')) {
      if (!word.empty()) words.push_back(word);
    }
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

}  // namespace paceline
