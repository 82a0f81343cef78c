#include "session/failure.h"

#include <algorithm>
#include <array>
#include <vector>

namespace paceline {
namespace {

constexpr std::array kCodes = {ExitCode::kUsage,     ExitCode::kData,     ExitCode::kCommunication,
                               ExitCode::kResources, ExitCode::kDiverged, ExitCode::kInterrupted};

ExitCode exit_code(std::int64_t code) {
  const auto found = std::ranges::find(
      kCodes, code, [](ExitCode known) { return static_cast<std::int64_t>(known); });
  return found == kCodes.end() ? ExitCode::kInternal : *found;
}

}  // namespace

wire::Failure failure_of(const Error& error) {
  wire::Failure failure;
  for (const Reason& reason : error.reasons()) {
    wire::Failure::Reason& told = *failure.add_reasons();
    told.set_sentence(reason.sentence);
    told.set_exit_code(static_cast<std::uint32_t>(reason.code));
    told.set_about(reason.about);
    told.set_remark(reason.remark);
  }
  return failure;
}

Error error_of(const wire::Failure& failure) {
  std::vector<Reason> reasons;
  for (const wire::Failure::Reason& told : failure.reasons()) {
    reasons.push_back({told.sentence(), exit_code(told.exit_code()), told.about(), told.remark()});
    if (reasons.size() == Error::kMostReasons) break;
  }
  return reasons.empty() ? Error("no reason was given") : Error(std::move(reasons));
}

ChiefWord stop_word(const Error& error) {
  wire::Stop stop;
  *stop.mutable_failure() = failure_of(error);
  return {wire::STOP, stop.SerializeAsString()};
}

}  // namespace paceline
