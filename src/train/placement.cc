#include "train/placement.h"

#include <algorithm>
#include <charconv>

#include "base/process.h"
#include "base/range.h"
#include "cluster/hosts.h"

namespace paceline {

Placement place_worker(std::span<const unsigned> cores, unsigned quota, std::uint64_t worker,
                       std::uint64_t workers, std::uint32_t threads) {
  const auto most = static_cast<std::uint32_t>(std::min<std::size_t>(cores.size(), quota));
  if (workers > most) return {{}, std::clamp(threads, 1U, most)};
  const Range own = even_part(most, workers, worker);
  if (most < cores.size()) {
    const auto time = static_cast<std::uint32_t>(own.size());
    return {{}, std::min(threads == 0 ? time : threads, most)};
  }
  const auto mine = cores.subspan(own.begin, own.size());
  const auto wanted = threads == 0 ? static_cast<std::uint32_t>(mine.size()) : threads;
  return {{mine.begin(), mine.end()}, std::min(wanted, most)};
}

Placement place_worker(const RunConfig& config, const std::string& name) {
  std::uint64_t worker = 0;
  const std::size_t digits = std::min(name.find_first_of("0123456789"), name.size());
  std::from_chars(name.data() + digits, name.data() + name.size(), worker);
  const std::uint64_t hosts = std::max<std::uint64_t>(1, parse_hosts(config.hosts).size());
  const std::uint64_t here = (config.workers + hosts - 1 - worker % hosts) / hosts;
  // Threads cut the sums of a product, and with them its bits.
  const bool one = config.deterministic && config.model.threads == 0;
  return place_worker(available_core_numbers(), available_cores(),
                      worker / hosts % std::max<std::uint64_t>(1, here),
                      std::max<std::uint64_t>(1, here), one ? 1 : config.model.threads);
}

RunConfig with_threads(RunConfig config) {
  config.model.threads = place_worker(config, "worker0").threads;
  return config;
}

void take_place(const RunConfig& config, const Placement& placement) {
  if (config.pin && !placement.cores.empty()) pin_this_thread(placement.cores);
}

}  // namespace paceline
