#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "prepare/stages.h"
#include "prepare/word_lists.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// With several processes each gets some of the words, with all that they count anywhere.
std::vector<fs::path> divide(const PrepareContext& context, const std::vector<fs::path>& lists) {
  Fleet& fleet = context.fleet;
  if (fleet.size() == 1) return lists;
  std::vector<fs::path> mine;
  do_together(fleet, [&]() -> Json {
    std::vector<fs::path> shares;
    for (std::size_t i = 0; i < fleet.size(); ++i) {
      shares.push_back(context.folder / fmt::format("share-{}.words", i));
    }
    divide_lists(lists, shares);
    std::vector<std::vector<FilePiece>> outgoing(fleet.size());
    for (std::size_t to = 0; to < fleet.size(); ++to) {
      if (to != fleet.rank())
        outgoing[to].push_back({shares[to], 0, fs::file_size(shares[to]), {}});
    }
    mine = fleet.exchange(outgoing, [&](std::size_t from, std::size_t) {
      return context.folder / fmt::format("from-{}.words", from);
    });
    mine.push_back(shares[fleet.rank()]);
    return {};
  });
  return mine;
}

WordResult choose(const PrepareContext& context, const std::vector<fs::path>& lists) {
  const std::size_t most = context.options.settings.vocabulary;
  const std::vector<fs::path> mine = divide(context, lists);
  const auto reports = do_together(context.fleet, [&]() -> Json {
    const WordTotals totals = merge_lists(mine, most);
    return {{"different", totals.different}, {"words", totals.words}};
  });
  WordResult result;
  CountedWords best;
  for (const Json& report : reports) {
    result.different += report["different"].get<std::uint64_t>();
    for (const Json& word : report["words"]) best.push_back(word.get<CountedWords::value_type>());
  }
  keep_most_frequent(best, most);
  for (auto& [word, count] : best) result.words.push_back(std::move(word));
  return result;
}

}  // namespace

WordResult word_stage(const PrepareContext& context, const GroupResult& grouped) {
  const std::vector<std::string>& given = context.options.settings.words;
  if (!given.empty()) return {given, 0};
  const fs::path end = context.folder / "words.json";
  Json kept = read_done(end);
  const auto everyone = do_together(context.fleet, [&]() -> Json { return !kept.is_null(); });
  if (std::ranges::find(everyone, Json(false)) == everyone.end()) {
    return {kept["words"].get<std::vector<std::string>>(), kept["different"]};
  }
  std::vector<fs::path> lists;
  for (const GroupResult::Segment& segment : grouped.segments) {
    lists.push_back(words_path(segment.name));
  }
  WordResult result = choose(context, lists);
  do_together(context.fleet, [&]() -> Json {
    write_done(end, {{"different", result.different}, {"words", result.words}});
    return {};
  });
  return result;
}

}  // namespace paceline
