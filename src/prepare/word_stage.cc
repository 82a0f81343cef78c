#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "prepare/stages.h"
#include "prepare/word_lists.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// Every process gets its slices of the lists of all others.
std::vector<fs::path> share_lists(const PrepareContext& context, std::vector<fs::path> lists) {
  Fleet& fleet = context.fleet;
  if (fleet.size() == 1) return lists;
  do_together(fleet, [&]() -> Json {
    std::vector<std::vector<FilePiece>> outgoing(fleet.size());
    for (const fs::path& path : lists) {
      const SlicedFile list = open_list(path);
      for (std::size_t to = 0; to < fleet.size(); ++to) {
        if (to != fleet.rank()) outgoing[to].push_back(list.piece(slices_of(to, fleet.size())));
      }
    }
    const auto received = fleet.exchange(outgoing, [&](std::size_t from, std::size_t number) {
      return context.folder / fmt::format("from-{}-{:06}.words", from, number);
    });
    lists.insert(lists.end(), received.begin(), received.end());
    return {};
  });
  return lists;
}

WordResult choose(const PrepareContext& context, const std::vector<fs::path>& lists) {
  const std::size_t most = context.options.settings.vocabulary;
  const std::vector<fs::path> all = share_lists(context, lists);
  const auto reports = do_together(context.fleet, [&]() -> Json {
    const WordTotals totals = merge_lists(all,
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
