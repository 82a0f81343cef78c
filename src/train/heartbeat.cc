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

// A heartbeat is one frame, whose metadata is limited; the rest comes with the next.
void UnreadableFiles::tell(google::protobuf::RepeatedPtrField<std::string>& names) {
  constexpr std::size_t kMostBytes = std::size_t{64} << 10;
  const auto files = dataset_.unreadable();
  for (std::size_t bytes = 0; told_ < files.size() && bytes < kMostBytes; ++told_) {
    bytes += files[told_].size();
    names.Add(std::string(files[told_]));
  }
}

}  // namespace paceline
