#include "config/run_config.h"

#include "data/catalogue/registry.h"

namespace paceline {

bool exchanges_rows(const RunConfig& config) {
  return is_rows(config.data) && config.exchange == ExchangeKind::kPs &&
         config.transfer == Transfer::kSparse;
}

bool trains_rows(const RunConfig& config) {
  return is_rows(config.data) && config.exchange == ExchangeKind::kLocal &&
         config.transfer == Transfer::kSparse;
}

bool reads_ahead(const RunConfig& config) {
  return exchanges_rows(config) && rows_are_read_ahead(config.mode, config.staleness);
}

std::uint64_t server_staleness(const RunConfig& config) {
  return exchanges_rows(config) ? staleness_of_rows(config.mode, config.staleness)
                                : config.staleness;
}

std::uint32_t server_count(const RunConfig& config) {
  switch (config.exchange) {
    case ExchangeKind::kPs:
      return static_cast<std::uint32_t>(config.servers);
    case ExchangeKind::kAllReduce:
      return 1;
    case ExchangeKind::kLocal:
      break;
  }
  return 0;
}

}  // namespace paceline
