#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "prepare/stages.h"
#include "prepare/word_numbers.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Rows = NumberResult::Rows;

// Tasks begin at whole chunks, but for the first of a process, and end there, but for the last.
std::vector<Rows> cut_rows(const PrepareContext& context, const GroupResult& grouped) {
  const std::uint64_t most = task_rows(context.options.settings.length);
  std::vector<Rows> all;
  for (std::size_t part = 0; part < kReviewParts; ++part) {
    const PartRows& rows = grouped.parts[part];
    for (std::uint64_t first = rows.begin(); first < rows.end();) {
      const std::uint64_t task = first / most;
      const std::uint64_t end = std::min((task + 1) * most, rows.end());
      all.push_back(
          {part, first, end, context.folder / fmt::format("{}-{:06}", name_of(rows.part), task)});
      first = end;
    }
  }
  return all;
}

// Rows of a task of `most` rows, some of which another process may have.
bool begins_elsewhere(const Rows& rows, std::uint64_t most) {
  return rows.first % most != 0;
}

bool ends_elsewhere(const Rows& rows, std::uint64_t most, const GroupResult& grouped) {
  return rows.end % most != 0 && rows.end != grouped.parts[rows.part].all;
}

// The process that has the first row of that task.
std::size_t owner_of(const Rows& rows, std::uint64_t most, const GroupResult& grouped) {
  const auto& ends = grouped.parts[rows.part].ends;
  const std::uint64_t first = rows.first / most * most;
  return static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), first) - ends.begin());
}

// A task that lies in several processes is joined by the one that has its first row. Returns the
// tasks that this process has whole.
std::vector<Rows> join_tasks(const PrepareContext& context, const GroupResult& grouped,
                             const NumberResult& numbered) {
  const std::uint32_t length = context.options.settings.length;
  const std::uint64_t most = task_rows(length);
  std::vector<std::vector<FilePiece>> outgoing(context.fleet.size());
  Json given = Json::array();
  std::vector<Rows> mine;
  for (const Rows& rows : numbered.rows) {
    if (!begins_elsewhere(rows, most)) {
      mine.push_back(rows);
      continue;
    }
    const std::size_t owner = owner_of(rows, most, grouped);
    given.push_back({owner, rows.part, rows.first});
    outgoing[owner].push_back({rows.path, 0, fs::file_size(rows.path), {}});
  }
  const auto all_given = do_together(context.fleet, [&] { return given; });
  const auto place = [&](std::size_t from, std::size_t number) {
    return context.folder / fmt::format("rest-{}-{}", from, number);
  };
  do_together(context.fleet, [&]() -> Json {
    context.fleet.exchange(outgoing, place);
    for (Rows& rows : mine) {
      if (!ends_elsewhere(rows, most, grouped)) continue;
      std::vector<fs::path> plain = {rows.path};
      for (std::size_t from = context.fleet.rank() + 1; from < all_given.size(); ++from) {
        std::size_t number = 0;
        for (const Json& one : all_given[from]) {
          if (one[0] != context.fleet.rank()) continue;
          if (one[1] == rows.part && one[2].get<std::uint64_t>() / most == rows.first / most)
            plain.push_back(place(from, number));
          ++number;
        }
      }
      rows.path += "-whole";
      join_numbered(plain, length, numbered.id_bytes, rows.path);
    }
    return {};
  });
  return mine;
}

// Brings all tasks to the first process; the others have none then.
std::vector<Rows> collect_tasks(const PrepareContext& context, const std::vector<Rows>& mine) {
  std::vector<std::vector<FilePiece>> outgoing(context.fleet.size());
  Json names = Json::array();
  for (const Rows& rows : mine) {
    names.push_back({rows.part, rows.first, rows.end});
    if (context.fleet.rank() > 0) {
      outgoing[0].push_back({rows.path, 0, fs::file_size(rows.path), {}});
    }
  }
  const auto all_names = do_together(context.fleet, [&] { return names; });
  const auto place = [&](std::size_t from, std::size_t number) {
    return context.folder / fmt::format("chunks-{}-{:06}", from, number);
  };
  do_together(context.fleet, [&]() -> Json {
    context.fleet.exchange(outgoing, place);
    return {};
  });
  if (context.fleet.rank() > 0) return {};
  std::vector<Rows> all = mine;
  for (std::size_t from = 1; from < all_names.size(); ++from) {
    for (std::size_t i = 0; i < all_names[from].size(); ++i) {
      const Json& name = all_names[from][i];
      all.push_back({name[0], name[1], name[2], place(from, i)});
    }
  }
  std::ranges::sort(all, {}, [](const Rows& rows) { return std::pair(rows.part, rows.first); });
  return all;
}

}  // namespace

NumberResult number_stage(const PrepareContext& context, const GroupResult& grouped,
                          const std::vector<std::string>& words) {
  const WordNumbers numbers(words);
  const bool plain = context.options.format == PrepareFormat::kTsv || writes_together(context);
  NumberResult result;
  result.id_bytes = numbers.end() <= (1U << 16) ? 2 : 4;
  result.rows = cut_rows(context, grouped);
  const std::uint64_t most = task_rows(context.options.settings.length);
  const auto reports = do_together(context.fleet, [&] {
    run_tasks(grouped.segments.size(), context.options.threads, context.stop, [&](std::size_t i) {
      const GroupResult::Segment& segment = grouped.segments[i];
      translate_list(words_path(segment.name), segment.words, numbers, numbers_path(segment.name));
    });
    Ticker ticker(context.news, "writing", result.rows.size(), Ticker::Unit::kOther);
    const auto name = [&](std::size_t i) { return result.rows[i].path; };
    const auto number = [&](std::size_t i) {
      const Rows& rows = result.rows[i];
      const bool whole = !begins_elsewhere(rows, most) && !ends_elsewhere(rows, most, grouped);
      const NumberReport report = number_rows({grouped.parts[rows.part], rows.first, rows.end,
                                               plain || !whole ? Chunks::kPlain : Chunks::kDeflated,
                                               numbers.end(), rows.path, context.stop},
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
  if (context.fleet.size() > 1 && !plain) {
    result.rows = collect_tasks(context, join_tasks(context, grouped, result));
  }
  return result;
}

}  // namespace paceline
