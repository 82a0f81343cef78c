#include "session/member_line.h"

#include <map>

#include "base/units.h"
#include "session/failure.h"
#include "session/hello.h"
#include "session/message.h"

namespace paceline {
namespace {

// What only members of one role tell the chief; all else any of them may.
const std::map<wire::Type, std::string_view> kTellers = {
    {wire::READY, "server"},       {wire::COMPLETE, "server"},     {wire::FENCED, "server"},
    {wire::SCALARS, "server"},     {wire::STOPPED, "server"},      {wire::PREPARED, "worker"},
    {wire::COMMITTED, "worker"},   {wire::WORKER_EPOCH, "worker"}, {wire::NOTE, "worker"},
    {wire::EVALUATED, "evaluator"}};

void expect_to_send(const wire::Register& who, wire::Type type) {
  const auto teller = kTellers.find(type);
  if (teller == kTellers.end() || teller->second == who.role()) return;
  throw FrameError(fmt::format("{} is a {}, and message type {} is for a {} to send", who.name(),
                               who.role(), static_cast<int>(type), teller->second));
}

}  // namespace

std::span<std::byte> MemberLine::place(Link&, const FrameHeader&, std::string_view) {
  throw FrameError("the chief takes no payloads");
}

void MemberLine::received(Link&, const FrameHeader& header, std::string_view meta,
                          std::span<std::byte>) {
  heard = Clock::now();
  if (header.type == kHelloType) {
    greeted_ = answer_hello(*link_, meta, digest_, "the chief").has_value();
    return;
  }
  if (!greeted_) throw FrameError("the first message is not a hello");
  if (incarnation != 0) {
    const auto type = static_cast<wire::Type>(header.type);
    expect_to_send(who, type);
    return events_.told(*this, type, meta);
  }
  if (header.type != wire::REGISTER) throw FrameError("not registered");
  who = parsed<wire::Register>(meta);
  events_.entered(*this, who);
}

void MemberLine::send(const FrameHeader& header, std::string_view meta) {
  if (link_) link_->send(header, meta);
}

void MemberLine::close(const std::string& reason) {
  if (link_) link_->close(reason);
}

void MemberLine::expect_registered(TimePoint now, Duration patience) {
  if (incarnation != 0 || !open() || now - opened < patience) return;
  close(fmt::format("it has not registered in {}", format_duration(patience)));
}

void MemberLine::closed(Link& link, const std::string& reason) {
  counted_ = link.counters();
  const std::shared_ptr<Link> gone = std::move(link_);  // it is still being called
  const bool said = goodbye && goodbye->has_failure();
  events_.closed(*this, said ? error_of(goodbye->failure()) : CommError("{}", reason));
}

}  // namespace paceline
