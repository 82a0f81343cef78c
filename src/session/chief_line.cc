#include "session/chief_line.h"

#include <unistd.h>

#include "base/error.h"
#include "base/process.h"
#include "base/units.h"
#include "net/socket.h"
#include "session/failure.h"
#include "session/hello.h"
#include "session/message.h"

namespace paceline {

ChiefLine::ChiefLine(Loop& loop, const ChiefLineOptions& options, Events events)
    : loop_(loop), options_(options), events_(std::move(events)) {
  LinkOptions link_options;
  link_options.run = options_.self.run;
  const TimePoint deadline = Clock::now() + options_.deadline;
  link_ = connect(loop_, Address::parse(options_.chief), link_options, *this, deadline);
  FrameHeader hello;
  hello.type = kHelloType;
  link_->send(hello, encode_hello({options_.self.role, options_.self.digest}));
  wire::Register message;
  message.set_role(options_.self.role);
  message.set_name(options_.self.name);
  message.set_address(options_.address);
  message.set_host(host_name());
  message.set_pid(::getpid());
  send(wire::REGISTER, message.SerializeAsString());
  const bool answered = loop_.run_until([this] { return incarnation_ != 0 || closed_; }, deadline);
  if (closed_) throw CommError("{}: the chief turned it away: {}", options_.self.name, refusal_);
  if (!answered) {
    throw CommError(
        "{} has waited {} for the chief at {} to answer. Is it running, and is it the "
        "chief of this run?",
        options_.self.name, format_duration(options_.deadline), options_.chief);
  }
}

void ChiefLine::start() {
  started_ = true;
  heard_ = looked_ = Clock::now();
  beats_ = loop_.every(options_.heartbeat, [this] {
    beat();
    look_after_chief();
  });
  beat();
  for (const ChiefWord& word : std::exchange(early_, {})) events_.told(word.type, word.meta);
}

// The chief answers every heartbeat.
void ChiefLine::look_after_chief() {
  if (closed_ || leaving_) return;
  const TimePoint now = Clock::now();
  if (now - std::exchange(looked_, now) > options_.silence / 2)
    heard_ = now;  // it was us who slept
  if (now - heard_ < options_.silence) return;
  link_->close(fmt::format("nothing heard from it for {} (--member-timeout)",
                           format_duration(now - heard_)));
}

ChiefLine::~ChiefLine() {
  leaving_ = true;
  beats_.reset();
  if (link_) link_->close("leaving");
}

void ChiefLine::send(wire::Type type, const std::string& meta) {
  FrameHeader header;
  header.type = static_cast<std::uint16_t>(type);
  header.incarnation = incarnation_;
  link_->send(header, meta);
}

void ChiefLine::tell(ChiefWord word) {
  loop_.post([this, word = std::move(word)] {
    if (!closed_ && !leaving_) send(word.type, word.meta);
  });
}

void ChiefLine::beat() {
  if (!closed_ && !leaving_) send(wire::HEARTBEAT, events_.beat().SerializeAsString());
}

void ChiefLine::goodbye(const std::optional<Error>& failure) {
  if (closed_ || leaving_) return;
  wire::Goodbye goodbye;
  *goodbye.mutable_last() = events_.beat();
  if (failure) *goodbye.mutable_failure() = failure_of(*failure);
  send(wire::GOODBYE, goodbye.SerializeAsString());
  leaving_ = true;
  link_->close("goodbye", true);
}

std::span<std::byte> ChiefLine::place(Link&, const FrameHeader&, std::string_view) {
  throw FrameError("the chief sends no payloads");
}

void ChiefLine::received(Link&, const FrameHeader& header, std::string_view meta,
                         std::span<std::byte>) {
  heard_ = Clock::now();
  if (header.type == kWelcomeType || header.type == wire::HEARTBEAT) return;
  if (header.type == wire::REGISTERED) {
    const auto registered = parsed<wire::Registered>(meta);
    incarnation_ = registered.incarnation();
    rank_ = registered.rank();
    return;
  }
  const auto type = static_cast<wire::Type>(header.type);
  if (started_) {
    events_.told(type, meta);
  } else {
    early_.push_back({type, std::string(meta)});
  }
}

void ChiefLine::closed(Link&, const std::string& reason) {
  closed_ = true;
  refusal_ = reason;
  if (!leaving_ && started_) events_.lost(reason);
}

}  // namespace paceline
