#include "train/role.h"

#include <utility>

#include "train/placement.h"

namespace paceline {
namespace {

Identity identity_of(const RoleContext& role, const std::string& kind) {
  return {run_id(role.digest), role.digest, kind, role.name};
}

}  // namespace

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
