#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "prepare/stages.h"

namespace paceline {
namespace {

using Json = nlohmann::json;

// Tasks begin at whole chunks, but for the first of a process.
std::vector<NumberResult::Rows> cut_rows(const PrepareContext& context,
                                         const GroupResult& grouped) {
  std::vector<NumberResult::Rows> all;
  for (std::size_t part = 0; part < kReviewParts; ++part) {
    const PartRows& rows = grouped.parts[part];
    for (std::uint64_t first = rows.begin(); first < rows.end();) {
      const std::uint64_t task = first / kTaskRows;
      const std::uint64_t end = std::min((task + 1) * kTaskRows, rows.end());
      all.push_back(
          {part, first, end, context.folder / fmt::format("{}-{:06}", name_of(rows.part), task)});
      first = end;
    }
  }
  return all;
}

}  // namespace

NumberResult number_stage(const PrepareContext& context, const GroupResult& grouped,
                          const std::vector<std::string>& words) {
  const WordNumbers numbers(words);
  const bool whole = context.fleet.size() == 1 && context.options.format == PrepareFormat::kHdf5;
  NumberResult result;
  result.id_bytes = numbers.end() <= (1U << 16) ? 2 : 4;
  result.rows = cut_rows(context, grouped);
  const auto reports = do_together(context.fleet, [&] {
    run_tasks(grouped.segments.size(), context.options.threads, context.stop, [&](std::size_t i) {
      const GroupResult::Segment& segment = grouped.segments[i];
      translate_list(words_path(segment.name), segment.words, numbers, numbers_path(segment.name));
    });
    Ticker ticker(context.news, "writing", result.rows.size(), Ticker::Unit::kOther);
    const auto name = [&](std::size_t i) { return result.rows[i].path; };
    const auto number = [&](std::size_t i) {
      const NumberResult::Rows& rows = result.rows[i];
      const NumberReport report = number_rows(
          {grouped.parts[rows.part], rows.first, rows.end,
           whole ? Chunks::kDeflated : Chunks::kPlain, numbers.end(), rows.path, context.stop},
          context.options.settings);
      ++ticker.done();
      return to_json(report);
    };
    const auto skip = [&](std::size_t) { ticker.done_before(1); };
    NumberReport sum;
    for (const Json& report : finish_tasks({result.rows.size(), name, number, skip},
                                           context.options.threads, context.stop)) {
      sum.add(number_report(report));
    }
    return to_json(sum);
  });
  for (const Json& report : reports) result.all.add(number_report(report));
  return result;
}

}  // namespace paceline
