// What summary.json says of each role: the figures of its last heartbeat.
#include <algorithm>

#include "base/process.h"
#include "session/heartbeat.h"
#include "train/chief.h"
#include "train/phases.h"

namespace paceline {
namespace {

nlohmann::json for_summary(const wire::Register& who, const wire::Heartbeat& figures) {
  return {{"name", who.name()},
          {"role", who.role()},
          {"host", who.host()},
          {"cpu_seconds", figures.cpu_seconds()},
          {"peak_rss_bytes", figures.peak_rss_bytes()},
          {"bytes_in", figures.bytes_in()},
          {"bytes_out", figures.bytes_out()}};
}

nlohmann::json for_summary(const MemberLine& line) {
  nlohmann::json entry = for_summary(line.who, line.figures);
  if (!line.goodbye) entry["lost"] = true;  // the figures are those it told last
  if (line.figures.training_cpu_seconds() > 0)
    entry["training_cpu_seconds"] = line.figures.training_cpu_seconds();
  if (line.who.role() != "worker") return entry;
  if (line.figures.rows() > 0) entry["rows"] = line.figures.rows();
  entry["examples"] = line.figures.examples();
  entry["finish_seconds"] = line.finished;
  for (int phase = 0; phase < line.figures.phase_seconds_size(); ++phase) {
    const std::string name = kPhaseNames.at(static_cast<std::size_t>(phase));
    entry["time"][name + "_seconds"] = line.figures.phase_seconds(phase);
  }
  entry["time"]["step_seconds"] = line.figures.step_seconds();
  return entry;
}

}  // namespace

// For the summary: in the order of the data's path, and by rank.
nlohmann::json Chief::figures_by_role() const {
  std::vector<const MemberLine*> registered;
  for (const auto& line : lines_) {
    if (line->incarnation != 0) registered.push_back(line.get());
  }
  std::sort(registered.begin(), registered.end(), [&](const MemberLine* a, const MemberLine* b) {
    const ClusterMember& first = *core_->member(a->incarnation);
    const ClusterMember& second = *core_->member(b->incarnation);
    return std::pair(first.role, first.rank) < std::pair(second.role, second.rank);
  });
  LinkCounters own;
  for (const MemberLine* line : registered) own += line->counters();
  wire::Register chief;
  chief.set_name(role_.name);
  chief.set_role("chief");
  chief.set_host(host_name());
  nlohmann::json roles = nlohmann::json::array({for_summary(chief, figures(own))});
  for (const MemberLine* line : registered) roles.push_back(for_summary(*line));
  return roles;
}

}  // namespace paceline
