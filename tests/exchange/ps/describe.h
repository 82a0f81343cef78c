// What the state machines say, as short sentences that scenarios can be read by.
//
//   start 0 / add to 0                      a contribution becomes or joins chunk 0's sum
//   apply 0: step 3, weight 4, scale 1 -> version 4
//   7 <- params 0 version 4                 client 7 is sent chunk 0
//   7 <- OVERLAP 0 step 3, missing 2-4      client 7 is refused
//   chief <- complete 4 pinned              the chief is told
#pragma once

#include <fmt/format.h>

#include <string>
#include <variant>
#include <vector>

#include "exchange/ps/server_core.h"
#include "exchange/ps/worker_core.h"

namespace paceline {

using Lines = std::vector<std::string>;

template <typename... Cases>
struct Match : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Match(Cases...) -> Match<Cases...>;

template <typename Ranges>
std::string describe_ranges(const Ranges& ranges) {
  std::string text;
  for (const wire::Tiles& range : ranges) {
    text += fmt::format(" {}-{}", range.begin(), range.end());
  }
  return text;
}

inline std::string describe_word(const wire::Complete& word) {
  return fmt::format("complete {}{}", word.version(), word.pinned() ? " pinned" : "");
}
inline std::string describe_word(const wire::Fenced& word) {
  return fmt::format("fenced {}: open {}, untouched {}", word.number(), word.open(),
                     word.untouched());
}
inline std::string describe_word(const wire::Scalars& word) {
  return fmt::format("scalars of step {}: {}{}", word.step(), word.sum_of_squares(),
                     word.finite() ? "" : ", not finite");
}
inline std::string describe_word(const wire::Stopped& word) {
  return fmt::format("stopped at {}{}{}", word.version(), word.even() ? "" : ", uneven",
                     describe_ranges(word.applied()));
}
inline std::string describe_word(const wire::Prepared& word) {
  return fmt::format("prepared {}: next {}", word.epoch(), word.next());
}
inline std::string describe_word(const wire::Committed& word) {
  return "committed" + describe_ranges(word.steps());
}

inline std::string describe_word(const wire::Ack& ack) {
  return fmt::format("ack {} step {}", ack.chunk(), ack.step());
}
inline std::string describe_word(const wire::Refusal& refusal) {
  return fmt::format("{} {} step {}{}{}", wire::Refusal::Reason_Name(refusal.reason()),
                     refusal.chunk(), refusal.step(), refusal.missing_size() > 0 ? ", missing" : "",
                     describe_ranges(refusal.missing()));
}

template <typename Words>
std::string describe_any(const Words& words) {
  return std::visit([](const auto& word) { return describe_word(word); }, words);
}

inline std::string describe(const ServerAction& action) {
  return std::visit(
      Match{
          [](const Accumulate& a) {
            return fmt::format("{} {}", a.first ? "start" : "add to", a.chunk);
          },
          [](const CheckChunk& a) { return fmt::format("check {} of step {}", a.chunk, a.step); },
          [](const MeasureStep& a) { return fmt::format("measure step {}", a.step); },
          [](const Apply& a) {
            return fmt::format("apply {}: step {}, weight {}, scale {} -> version {}", a.chunk,
                               a.step, a.weight, a.scale, a.version);
          },
          [](const PinVersion& a) { return fmt::format("pin {}", a.version); },
          [](const ReleaseVersion& a) { return fmt::format("release {}", a.version); },
          [](const SendParams& a) {
            return fmt::format("{} <- params {} version {}{}", a.client, a.chunk, a.version,
                               a.state ? " with state" : "");
          },
          [](const SendToClient& a) {
            return fmt::format("{} <- {}", a.client, describe_any(a.message));
          },
          [](const SendToChief& a) { return "chief <- " + describe_any(a.message); },
          [](const FailRun& a) { return std::string("fail: ") + a.reason.what(); },
      },
      action);
}

inline std::string describe(const WorkerAction& action) {
  return std::visit(
      Match{
          [](const SendPull& a) {
            return a.message.latest()
                       ? fmt::format("pull {} latest", a.message.chunk())
                       : fmt::format("pull {} version {}", a.message.chunk(), a.message.version());
          },
          [](const SendPush& a) {
            return fmt::format("push {} step {} tiles {}-{} of assignment {} from version {}{}",
                               a.message.chunk(), a.message.step(), a.message.tiles().begin(),
                               a.message.tiles().end(), a.assignment_epoch, a.base_version,
                               a.message.last_lease() ? ", then idle" : "");
          },
          [](const WordForChief& a) { return "chief <- " + describe_any(a.message); },
          [](const TakeAside& a) {
            return fmt::format("{} {}", a.install ? "install" : "drop", a.chunk);
          },
      },
      action);
}

template <typename Actions>
Lines lines(const Actions& actions) {
  Lines result;
  for (const auto& action : actions) result.push_back(describe(action));
  return result;
}

}  // namespace paceline
