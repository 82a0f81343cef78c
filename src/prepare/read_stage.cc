#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "prepare/share_slices.h"
#include "prepare/stages.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::uint64_t kMostPortion = 64'000'000;
constexpr std::uint64_t kLeastPortion = 4'000'000;
constexpr const char* kReadPrefix = "read-";

// Kept from portion to portion: of new memory every page must be made first.
class Builders {
 public:
  explicit Builders(std::size_t memory) : memory_(memory) {}

  std::unique_ptr<RunBuilder> take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<RunBuilder>(memory_);
    std::unique_ptr<RunBuilder> builder = std::move(idle_.back());
    idle_.pop_back();
    return builder;
  }
  // Memory that long texts have used cannot hold entries of many short ones, or the reverse: one
  // that holds much is not kept.
  void give_back(std::unique_ptr<RunBuilder> builder) {
    const std::lock_guard lock(mutex_);
    if (builder->held() <= memory_ / 4) idle_.push_back(std::move(builder));
  }

 private:
  std::size_t memory_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<RunBuilder>> idle_;
};

// All processes must cut the input in the same way, and go on as they have begun.
std::uint64_t portion_bytes(const PrepareContext& context, std::uint64_t input_bytes) {
  const std::uint64_t workers = context.options.threads * context.fleet.size();
  const std::uint64_t allowed =
      std::clamp(input_bytes / (4 * workers), kLeastPortion,
                 std::min<std::uint64_t>(kMostPortion, context.thread_memory / 2));
  const std::uint64_t wanted =
      context.options.portion_bytes == 0 ? allowed : context.options.portion_bytes;
  const std::uint64_t first = do_together(context.fleet, [&] {
    return context.fleet.rank() == 0 ? context.folder.chosen("portion_bytes", wanted) : 0;
  })[0];
  do_together(context.fleet, [&]() -> Json {
    if (context.folder.chosen("portion_bytes", first) == first) return {};
    throw DataError("its folder is of another run: begin anew with --fresh");
  });
  return first;
}

// With several processes, what follows depends on the runs of all: what one has lost is lost for
// all.
std::vector<fs::path> share_runs(const PrepareContext& context, std::vector<fs::path> runs) {
  if (context.fleet.size() == 1) return runs;
  const fs::path end = context.folder / "shared.json";
  Json received = read_done(end);
  const auto everyone = do_together(context.fleet, [&]() -> Json { return !received.is_null(); });
  if (std::ranges::find(everyone, Json(false)) != everyone.end()) {
    do_together(context.fleet, [&]() -> Json {
      context.folder.keep_only(kReadPrefix);
      return {};
    });
    const auto paths = share_slices(context, runs, open_run, "run");
    do_together(context.fleet, [&]() -> Json {
      received = Json::array();
      for (const fs::path& path : paths) received.push_back(fs::absolute(path).string());
      write_done(end, received);
      return {};
    });
  }
  for (auto& path : from_report([&] { return received.get<std::vector<std::string>>(); })) {
    runs.emplace_back(std::move(path));
  }
  return runs;
}

}  // namespace

ReadResult read_stage(const PrepareContext& context, const std::vector<InputFile>& files) {
  std::uint64_t input_bytes = 0;
  for (const InputFile& file : files) input_bytes += file.bytes;
  const std::vector<Portion> all = cut_into_portions(files, portion_bytes(context, input_bytes));
  std::vector<Portion> mine;
  for (std::size_t i = context.fleet.rank(); i < all.size(); i += context.fleet.size()) {
    mine.push_back(all[i]);
  }
  std::uint64_t my_bytes = 0;
  for (const Portion& portion : mine) my_bytes += portion.end - portion.begin;
  const auto name = [&](std::size_t i) {
    return context.folder / fmt::format("{}{:06}", kReadPrefix, i);
  };
  ReadResult result;
  const auto reports = do_together(context.fleet, [&] {
    Ticker ticker(context.news, "reading", my_bytes, Ticker::Unit::kBytes);
    Builders builders(context.thread_memory);
    const auto read = [&](std::size_t i) {
      std::unique_ptr<RunBuilder> builder = builders.take();
      const ReadReport report = read_portion(
          {files[mine[i].file], mine[i], *builder, name(i), ticker.done(), context.stop},
          context.options.settings);
      builders.give_back(std::move(builder));
      return to_json(report);
    };
    const auto skip = [&](std::size_t i) { ticker.done_before(mine[i].end - mine[i].begin); };
    ReadReport sum;
    const auto done =
        finish_tasks({mine.size(), name, read, skip}, context.options.threads, context.stop);
    for (std::size_t i = 0; i < done.size(); ++i) {
      const ReadReport report = read_report(done[i]);
      sum.add(report);
      for (std::uint64_t k = 0; k < report.runs; ++k) {
        result.runs.push_back(run_path(name(i), k));
      }
    }
    return to_json(sum);
  });
  for (const Json& report : reports) result.all.add(read_report(report));
  if (result.all.runs > 0) result.runs = share_runs(context, std::move(result.runs));
  return result;
}

}  // namespace paceline
