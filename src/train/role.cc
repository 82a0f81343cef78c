#include "train/role.h"

#include <utility>

#include "base/error.h"
#include "train/placement.h"

namespace paceline {
namespace {

Identity identity_of(const RoleContext& role, const std::string& kind) {
  return {role.id, role.digest, kind, role.name};
}

}  // namespace

RoleContext read_role(std::string_view spec) {
  wire::RoleSpec message;
  if (!message.ParseFromArray(spec.data(), static_cast<int>(spec.size()))) {
    throw DataError("what this process is to do cannot be read");
  }
  RoleContext role;
  static_cast<RunSpec&>(role) = decode_spec(message.run());
  role.role = message.role();
  role.name = message.name();
  role.chief = message.chief();
  if (!message.listen().empty()) role.config.listen = message.listen();
  check_files(role);
  return role;
}

void run_role(const RoleContext& role) {
  const bool ring = role.config.exchange == ExchangeKind::kAllReduce;
  if (role.role == "chief") return run_chief(role);
  if (role.role == "server") return run_server(role);
  if (role.role == "worker") return ring ? run_ring_worker(role) : run_worker(role);
  if (role.role == "evaluator") return run_evaluator(role);
  throw ConfigError("there is no role '{}'", role.role);
}

RoleContext take_worker_place(const RoleContext& role) {
  RoleContext placed = role;
  placed.config = with_threads(role.config);  // before it is pinned to a part of the cores
  take_place(role.config, place_worker(role.config, role.name));
  return placed;
}

ChiefLineOptions line_options(const RoleContext& role, const std::string& kind,
                              const std::string& address) {
  ChiefLineOptions options;
  options.chief = role.chief;
  options.self = identity_of(role, kind);
  options.address = address;
  options.heartbeat = role.config.heartbeat;
  options.deadline = role.config.start_timeout;
  options.silence = role.config.member_timeout;
  options.failure_fd = role.failure_fd;
  return options;
}

PsAddress ps_address(const RoleContext& role, const std::string& kind,
                     std::vector<wire::ServerAt> servers, std::uint32_t incarnation) {
  return {std::move(servers), identity_of(role, kind), incarnation};
}

}  // namespace paceline
