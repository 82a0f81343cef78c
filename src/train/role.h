// The processes of a run: each function is one role's whole life.
//
// A role is started with the run's spec and the chief's address, registers, works until the
// chief sends it home, and returns; it throws an Error when it cannot go on.
// SIGTERM ends it early.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/run_config.h"
#include "exchange/ps/connection.h"
#include "session/chief_line.h"
#include "train/run_spec.h"

namespace paceline {

struct RoleContext : RunSpec {
  std::string role;     // "worker"
  std::string name;     // "worker1"
  std::string chief;    // address; of the chief itself: where it is to listen
  int status_fd = -1;   // the chief: where JSON lines for the launcher go
  int failure_fd = -1;  // where a line goes that says why this process fails; −1: nowhere
};

// From the bytes of a RoleSpec. Throws ConfigError, DataError.
RoleContext read_role(std::string_view spec);
void run_role(const RoleContext& role);

// Pins this process to the cores of the worker, if the run asks for that. In what is returned the
// number of its threads is settled.
RoleContext take_worker_place(const RoleContext& role);

// How a role reaches the chief. `address` is where a server listens; empty for others.
ChiefLineOptions line_options(const RoleContext& role, const std::string& kind,
                              const std::string& address = "");
// How it reaches the servers.
PsAddress ps_address(const RoleContext& role, const std::string& kind,
                     std::vector<wire::ServerAt> servers, std::uint32_t incarnation);

void run_chief(const RoleContext& role);
void run_server(const RoleContext& role);
void run_worker(const RoleContext& role);
void run_ring_worker(const RoleContext& role);  // of an all-reduce run
void run_evaluator(const RoleContext& role);

}  // namespace paceline
