#include "prepare/share_slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

namespace paceline {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

// What the other processes have, if all of them see it.
std::optional<std::vector<fs::path>> files_of_neighbours(Fleet& fleet,
                                                         const std::vector<fs::path>& files) {
  if (fleet.neighbours() != fleet.size()) return std::nullopt;
  const auto all = do_together(fleet, [&] {
    Json mine = Json::array();
    for (const fs::path& file : files) mine.push_back(fs::absolute(file).string());
    return mine;
  });
  std::vector<fs::path> others;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (rank == fleet.rank()) continue;
    for (const Json& file : all[rank]) others.emplace_back(file.get<std::string>());
  }
  const auto seen = do_together(fleet, [&]() -> Json {
    return std::ranges::all_of(others, [](const fs::path& file) { return fs::exists(file); });
  });
  if (std::ranges::find(seen, Json(false)) != seen.end()) return std::nullopt;
  return others;
}

}  // namespace

// Files are opened before anybody sends: who fails then, fails where all hear of it.
std::vector<fs::path> share_slices(const PrepareContext& context,
                                   const std::vector<fs::path>& files,
                                   SlicedFile (*open)(const fs::path&), const std::string& ending) {
  Fleet& fleet = context.fleet;
  if (auto others = files_of_neighbours(fleet, files)) return *std::move(others);
  std::vector<std::vector<FilePiece>> outgoing(fleet.size());
  do_together(fleet, [&]() -> Json {
    for (const fs::path& path : files) {
      const SlicedFile file = open(path);
      for (std::size_t to = 0; to < fleet.size(); ++to) {
        if (to != fleet.rank()) outgoing[to].push_back(file.piece(slices_of(to, fleet.size())));
      }
    }
    return {};
  });
  std::vector<fs::path> received;
  do_together(fleet, [&]() -> Json {
    received = fleet.exchange(outgoing, [&](std::size_t from, std::size_t number) {
      return context.folder / fmt::format("from-{}-{:06}.{}", from, number, ending);
    });
    return {};
  });
  return received;
}

}  // namespace paceline
