#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "prepare/stages.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::uint64_t kTaskBytes = 64'000'000;  // of runs

// A task opens all runs: there must not be too many.
std::vector<fs::path> join_runs(const PrepareContext& context, std::vector<fs::path> runs,
                                SliceRange slices) {
  const std::size_t most = context.folder.chosen(
      "fan_in", std::max<std::size_t>(8, context.options.open_files / context.options.threads));
  for (int level = 0; runs.size() > most; ++level) {
    std::vector<fs::path> joined;
    const std::size_t batches = (runs.size() + most - 1) / most;
    for (std::size_t i = 0; i < batches; ++i) {
      joined.push_back(context.folder / fmt::format("joined-{}-{:04}.run", level, i));
    }
    run_tasks(batches, context.options.threads, context.stop, [&](std::size_t i) {
      if (fs::exists(joined[i])) return;
      const std::vector<fs::path> some(
          runs.begin() + static_cast<std::ptrdiff_t>(i * most),
          runs.begin() + static_cast<std::ptrdiff_t>(std::min(runs.size(), (i + 1) * most)));
      merge_runs(some, slices, joined[i],
                 std::clamp<std::size_t>(context.thread_memory / 2 / some.size(),
                                         std::size_t{16} << 10, std::size_t{1} << 20));
    });
    runs = std::move(joined);
  }
  return runs;
}

std::uint64_t tasks_for(const PrepareContext& context, const std::vector<fs::path>& runs,
                        SliceRange slices) {
  std::uint64_t bytes = 0;
  for (const fs::path& path : runs) {  // runs of this process have slices of others, too
    const SlicedFile run = open_run(path);
    bytes += run.end(slices.end - 1) - run.begin(slices.first);
  }
  const std::uint64_t wanted =
      std::max(bytes / kTaskBytes, std::uint64_t{2} * context.options.threads);
  return context.folder.chosen("group_tasks",
                               std::min<std::uint64_t>(slices.end - slices.first, wanted));
}

}  // namespace

GroupResult group_stage(const PrepareContext& context, std::vector<fs::path> runs) {
  const SliceRange slices = slices_of(context.fleet.rank(), context.fleet.size());
  const std::size_t count = slices.end - slices.first;
  const auto name = [&](std::size_t i) { return context.folder / fmt::format("group-{:03}", i); };
  GroupResult result;
  std::vector<SegmentSize> sizes;
  const auto reports = do_together(context.fleet, [&] {
    runs = join_runs(context, std::move(runs), slices);
    const std::size_t tasks = tasks_for(context, runs, slices);
    const auto first = [&](std::size_t i) { return slices.first + i * count / tasks; };
    Ticker ticker(context.news, "grouping", count, Ticker::Unit::kOther);
    const auto group = [&](std::size_t i) {
      return to_json(group_slices({runs, first(i), first(i + 1), context.thread_memory, name(i),
                                   ticker.done(), context.stop},
                                  context.options.settings));
    };
    const auto skip = [&](std::size_t i) { ticker.done_before(first(i + 1) - first(i)); };
    GroupReport sum;
    const auto done =
        finish_tasks({tasks, name, group, skip}, context.options.threads, context.stop);
    for (std::size_t i = 0; i < done.size(); ++i) {
      const GroupReport report = group_report(done[i]);
      sum.add(report);
      for (std::size_t k = 0; k < report.segments.size(); ++k) {
        result.segments.push_back({segment_name(name(i), k), report.segments[k].words});
        sizes.push_back(report.segments[k]);
      }
    }
    return to_json(sum);
  });
  for (std::size_t part = 0; part < kReviewParts; ++part) {
    PartRows& rows = result.parts[part];
    rows.part = static_cast<ReviewPart>(part);
    rows.first_rows = {0};
    for (std::size_t rank = 0; rank < reports.size(); ++rank) {
      if (rank == context.fleet.rank()) rows.first_rows = {rows.all};
      rows.all += group_report(reports[rank]).rows(rows.part);
      rows.ends.push_back(rows.all);
    }
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      rows.segments.push_back(
          {rows_path(result.segments[i].name, rows.part), numbers_path(result.segments[i].name)});
      rows.first_rows.push_back(rows.end() + sizes[i].rows[part]);
    }
  }
  for (const Json& report : reports) result.all.add(group_report(report));
  return result;
}

}  // namespace paceline
