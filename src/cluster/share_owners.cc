#include "cluster/share_owners.h"

#include <algorithm>

namespace paceline {

void ShareOwners::add(Assignment assignment) {
  last_start_ = assignment.start;
  assignments_.add(std::move(assignment));
}

std::map<std::uint32_t, std::vector<ShareOwners::Adopted>> ShareOwners::reassign(
    Range steps, const std::set<std::uint32_t>& dead, const std::vector<std::uint32_t>& heirs) {
  std::erase_if(inherited_,
                [&](const Inheritance& known) { return known.share.step < steps.begin; });
  assignments_.forget_before(steps.begin);
  std::map<std::uint32_t, std::vector<Adopted>> adopted;
  std::size_t turn = 0;
  const auto hand_over = [&](Inheritance& inheritance) {
    inheritance.owner = heirs[turn++ % heirs.size()];
    const Assignment* assignment = assignments_.in_force(inheritance.share.step);
    adopted[inheritance.owner].push_back(
        {inheritance.share, assignment != nullptr ? assignment->epoch : 0});
  };
  for (Inheritance& inheritance : inherited_) {
    if (dead.contains(inheritance.owner)) hand_over(inheritance);
  }
  for (std::uint64_t step = steps.begin; step < steps.end; ++step) {
    const Assignment* assignment = assignments_.in_force(step);
    if (assignment == nullptr) continue;
    for (const std::uint32_t worker : dead) {
      const Range tiles = assignment->tiles_for(worker, grid_.tiles(step));
      if (tiles.empty()) continue;
      inherited_.push_back({{step, tiles}, worker});
      hand_over(inherited_.back());
    }
  }
  return adopted;
}

std::vector<std::uint32_t> ShareOwners::owing(std::uint64_t step,
                                              const std::vector<Range>& missing) const {
  std::vector<std::uint32_t> owing;
  const Assignment* assignment = assignments_.in_force(step);
  if (assignment == nullptr) return owing;
  for (const AssignmentEntry& entry : assignment->entries) {
    const Range tiles = assignment->tiles_for(entry.worker, grid_.tiles(step));
    const bool owes = std::any_of(missing.begin(), missing.end(), [&](const Range& gap) {
      return gap.begin < tiles.end && tiles.begin < gap.end;
    });
    if (!owes) continue;
    const auto heir =
        std::find_if(inherited_.begin(), inherited_.end(), [&](const Inheritance& inheritance) {
          return inheritance.share == Share{step, tiles};
        });
    owing.push_back(heir != inherited_.end() ? heir->owner : entry.worker);
  }
  return owing;
}

}  // namespace paceline
