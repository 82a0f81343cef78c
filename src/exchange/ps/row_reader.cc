#include "exchange/ps/row_reader.h"

#include <algorithm>
#include <set>

#include "base/error.h"

namespace paceline {

RowReader::RowReader(Loop& loop, const RowDeal& deal, PsAddress address, Duration deadline)
    : deal_(deal),
      name_(address.self.name),
      arriving_(deal.servers()),
      answers_(deal.servers()),
      answered_(deal.servers()) {
  PsConnection::Events events;
  events.server_of = [](std::uint32_t chunk) { return chunk; };
  events.place = [this](const wire::Params& params, const FrameHeader& header) {
    arriving_[params.chunk()] = Buffer(header.payload_bytes);
    return arriving_[params.chunk()].bytes();
  };
  events.params = [this](const wire::Params& params, const FrameHeader&) {
    Buffer answer = std::exchange(arriving_[params.chunk()], {});
    if (params.ticket() != ticket_) return;  // the late answer to a read that was given up
    answers_[params.chunk()] = std::move(answer);
    answered_[params.chunk()] = true;
  };
  events.ack = [](const wire::Ack&) {};
  events.refusal = [this](const wire::Refusal& refusal) {
    refused_ = fmt::format("{} refuses version {}: {}", connection_->server_name(refusal.chunk()),
                           refusal.step(), wire::Refusal::Reason_Name(refusal.reason()));
  };
  connection_ = std::make_unique<PsConnection>(loop, std::move(address), std::move(events),
                                               Clock::now() + deadline);
}

void RowReader::ask(wire::Pull pull) {
  pull.set_ticket(++ticket_);
  refused_.clear();
  answered_.assign(deal_.servers(), false);
  FrameHeader header;
  header.type = wire::PULL;
  for (std::uint32_t server = 0; server < deal_.servers(); ++server) {
    pull.set_chunk(server);
    connection_->send(server, header, pull.SerializeAsString());
  }
  const auto done = [this] {
    return !refused_.empty() || std::ranges::all_of(answered_, std::identity());
  };
  if (!connection_->wait(done, TimePoint::max())) {
    std::set<std::uint32_t> owing;
    for (std::uint32_t server = 0; server < deal_.servers(); ++server) {
      if (!answered_[server]) owing.insert(server);
    }
    throw CommError("{} no longer waits for {} to send version {}", name_,
                    connection_->names_of(owing), pull.version());
  }
  if (!refused_.empty()) throw CommError("{}: {}", name_, refused_);
}

void RowReader::read(std::uint64_t version, std::uint64_t vector, Range keys,
                     std::span<float> out) {
  PACELINE_CHECK(out.size() == keys.size());
  wire::Pull pull;
  pull.set_version(version);
  pull.mutable_part()->set_begin(keys.begin);
  pull.mutable_part()->set_end(keys.end);
  pull.mutable_part()->set_vector(static_cast<std::uint32_t>(vector));
  ask(std::move(pull));
  if (deal_.servers() == 1) {
    const std::span<const float> values = std::as_const(answers_[0]).as_floats();
    if (values.size() != out.size()) {
      throw CommError("{} sent {} of {} rows", connection_->server_name(0), values.size(),
                      out.size());
    }
    std::ranges::copy(values, out.begin());
    return;
  }
  std::vector<std::size_t> taken(deal_.servers());
  for (std::uint64_t key = keys.begin; key < keys.end; ++key) {
    const std::uint32_t server = deal_.server_of(static_cast<Key>(key));
    const std::span<const float> values = std::as_const(answers_[server]).as_floats();
    if (taken[server] == values.size()) {
      throw CommError("{} sent too few rows of keys {} to {}", connection_->server_name(server),
                      keys.begin, keys.end);
    }
    out[key - keys.begin] = values[taken[server]++];
  }
  for (std::uint32_t server = 0; server < deal_.servers(); ++server) {
    if (taken[server] == answers_[server].size() / sizeof(float)) continue;
    throw CommError("{} sent too many rows of keys {} to {}", connection_->server_name(server),
                    keys.begin, keys.end);
  }
}

void RowReader::score(std::uint64_t version, Range tests, std::span<float> out) {
  PACELINE_CHECK(out.size() == tests.size());
  wire::Pull pull;
  pull.set_version(version);
  pull.mutable_tests()->set_begin(tests.begin);
  pull.mutable_tests()->set_end(tests.end);
  ask(std::move(pull));
  std::ranges::fill(out, 0.0F);
  for (std::uint32_t server = 0; server < deal_.servers(); ++server) {
    const std::span<const float> scores = std::as_const(answers_[server]).as_floats();
    if (scores.size() != out.size()) {
      throw CommError("{} sent {} scores of {} rows", connection_->server_name(server),
                      scores.size(), out.size());
    }
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += scores[i];
  }
}

}  // namespace paceline
