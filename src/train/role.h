// The processes of a run: each function is one role's whole life.
//
// A role is started with the run's config.toml and the chief's address, registers, works
// until the chief sends it home, and returns; it throws an Error when it cannot go on.
// SIGTERM ends it early.
#pragma once

#include <string>

#include "config/run_config.h"

namespace paceline {

struct RoleContext {
  RunConfig config;
  std::string digest;  // of config.toml
  std::string name;    // "worker1"
  std::string chief;   // address; empty for the chief itself
  int status_fd = -1;  // the chief: where JSON lines for the launcher go
};

void run_chief(const RoleContext& role);
void run_server(const RoleContext& role);
void run_worker(const RoleContext& role);
void run_ring_worker(const RoleContext& role);  // of an all-reduce run
void run_evaluator(const RoleContext& role);

}  // namespace paceline
