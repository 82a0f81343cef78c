#include "session/failure.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/json.h"

namespace paceline {
namespace {

using Json = nlohmann::json;

constexpr std::array kCodes = {ExitCode::kUsage,     ExitCode::kData,     ExitCode::kCommunication,
                               ExitCode::kResources, ExitCode::kDiverged, ExitCode::kInterrupted};

ExitCode exit_code(std::int64_t code) {
  const auto found = std::ranges::find(
      kCodes, code, [](ExitCode known) { return static_cast<std::int64_t>(known); });
  return found == kCodes.end() ? ExitCode::kInternal : *found;
}

Json as_json(const Reason& reason) {
  Json json = {{"sentence", reason.sentence}, {"code", static_cast<int>(reason.code)}};
  if (!reason.about.empty()) json["about"] = reason.about;
  if (!reason.remark.empty()) json["remark"] = reason.remark;
  return json;
}

Reason reason_in(const Json& json) {
  return {json.at("sentence").get<std::string>(), exit_code(json.at("code").get<std::int64_t>()),
          json.value("about", ""), json.value("remark", "")};
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

std::string failure_line(const Error& error) {
  Json reasons = Json::array();
  for (const Reason& reason : error.reasons()) reasons.push_back(as_json(reason));
  return to_text(reasons) + "\n";
}

std::optional<Error> read_failure_line(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const Json told = Json::parse(text.substr(0, end), nullptr, false);
  if (!told.is_array() || told.empty()) return std::nullopt;
  try {
    std::vector<Reason> reasons;
    for (const Json& reason : told) reasons.push_back(reason_in(reason));
    return Error(std::move(reasons));
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

void tell_failure(int fd, std::string_view line) {
  while (fd >= 0 && !line.empty()) {
    const ssize_t written = ::write(fd, line.data(), line.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    line.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace paceline
