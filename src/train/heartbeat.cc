#include "train/heartbeat.h"

#include <algorithm>

#include "session/heartbeat.h"

namespace paceline {

void add_figures(const LoopCounts& counts, wire::Heartbeat& beat) {
  beat.set_examples(counts.examples);
  for (std::size_t phase = 0; phase < kPhaseNames.size(); ++phase) {
    beat.add_phase_seconds(counts.times.seconds(static_cast<Phase>(phase)));
  }
  beat.set_step_seconds(counts.times.median_step());
  add_activity(counts.activity, beat);
  for (const Activity& reading : counts.reading) add_activity(reading, beat);
}

void UnreadableFiles::tell(google::protobuf::RepeatedPtrField<std::string>& names) {
  constexpr std::size_t kMost = 1000;
  const auto files = dataset_.unreadable();
  const std::size_t end = std::min(files.size(), told_ + kMost);
  for (; told_ < end; ++told_) names.Add(std::string(files[told_]));
}

}  // namespace paceline
