#include "prepare/share_slices.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace paceline {

namespace fs = std::filesystem;

// Files are opened before anybody sends: who fails then, fails where all hear of it.
std::vector<fs::path> share_slices(const PrepareContext& context,
                                   const std::vector<fs::path>& files,
                                   SlicedFile (*open)(const fs::path&), const std::string& ending) {
  Fleet& fleet = context.fleet;
  std::vector<std::vector<FilePiece>> outgoing(fleet.size());
  do_together(fleet, [&]() -> nlohmann::json {
    for (const fs::path& path : files) {
      const SlicedFile file = open(path);
      for (std::size_t to = 0; to < fleet.size(); ++to) {
        if (to != fleet.rank()) outgoing[to].push_back(file.piece(slices_of(to, fleet.size())));
      }
    }
    return {};
  });
  std::vector<fs::path> received;
  do_together(fleet, [&]() -> nlohmann::json {
    received = fleet.exchange(outgoing, [&](std::size_t from, std::size_t number) {
      return context.folder / fmt::format("from-{}-{:06}.{}", from, number, ending);
    });
    return {};
  });
  return received;
}

}  // namespace paceline
