#include "train/latecomers.h"

#include <set>
#include <vector>

#include "base/text.h"
#include "train/keeper.h"

namespace paceline {
namespace {

using Members = std::map<std::uint32_t, ClusterMember>;

constexpr std::size_t kMostNames = 8;

// Of the `count` of one kind.
void add_missing(const std::string& kind, std::uint64_t count, Role role, const Members& members,
                 std::vector<std::string>& missing) {
  std::uint64_t left = count;
  std::set<std::string> there;
  for (const auto& [incarnation, member] : members) {
    if (member.role != role) continue;
    there.insert(member.name);
    if (left > 0) --left;
  }
  std::vector<std::string> absent;
  for (std::uint64_t number = 0; number < count; ++number) {
    const std::string name = kind + std::to_string(number);
    if (!there.contains(name)) absent.push_back(name);
  }
  if (absent.size() == left && left <= kMostNames) {
    missing.insert(missing.end(), absent.begin(), absent.end());
  } else if (left > 0) {
    missing.push_back(fmt::format("{} {}{}", left, kind, left == 1 ? "" : "s"));
  }
}

// It is in the process of the first worker, and comes after it.
void add_missing_keeper(const Members& members, std::vector<std::string>& missing) {
  for (const auto& [incarnation, member] : members) {
    if (member.role == Role::kServer) return;
  }
  for (const auto& [incarnation, member] : members) {
    if (member.role == Role::kWorker && member.rank == 0) {
      missing.push_back("the " + keeper_name(member.name));
    }
  }
}

}  // namespace

std::string missing_roles(const RunConfig& config, const Members& members) {
  std::vector<std::string> missing;
  if (config.exchange == ExchangeKind::kAllReduce) {
    add_missing_keeper(members, missing);
  } else {
    add_missing("server", server_count(config), Role::kServer, members, missing);
  }
  add_missing("worker", config.workers, Role::kWorker, members, missing);
  add_missing("evaluator", 1, Role::kEvaluator, members, missing);
  return join(missing, ", ");
}

}  // namespace paceline
