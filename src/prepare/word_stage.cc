#include <algorithm>
#include <nlohmann/json.hpp>

#include "prepare/share_slices.h"
#include "prepare/stages.h"
#include "prepare/word_lists.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

WordResult choose(const PrepareContext& context, std::vector<fs::path> lists) {
  const std::size_t most = context.options.settings.vocabulary;
  if (context.fleet.size() > 1) {
    const auto received = share_slices(context, lists, open_list, "words");
    lists.insert(lists.end(), received.begin(), received.end());
  }
  const auto reports = do_together(context.fleet, [&]() -> Json {
    const WordTotals totals = merge_lists(lists,
                                          {slices_of(context.fleet.rank(), context.fleet.size()),
                                           most, context.options.threads, context.thread_memory},
                                          context.stop);
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
    return from_report([&] {
      return WordResult{kept.at("words").get<std::vector<std::string>>(),
                        kept.at("different").get<std::uint64_t>()};
    });
  }
  std::vector<fs::path> lists;
  for (const GroupResult::Segment& segment : grouped.segments) {
    lists.push_back(words_path(segment.name));
  }
  WordResult result = choose(context, std::move(lists));
  do_together(context.fleet, [&]() -> Json {
    write_done(end, {{"different", result.different}, {"words", result.words}});
    return {};
  });
  return result;
}

}  // namespace paceline
