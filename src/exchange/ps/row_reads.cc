#include "exchange/ps/row_reads.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace paceline {
namespace {

constexpr std::size_t kMostReads = 3;

}  // namespace

RowReads::RowReads(const Options& options, const WorkerCore& core)
    : options_(options), core_(core), forget_(options.servers) {}

const RowReads::Read* RowReads::find(Ticket ticket) const {
  const auto found = std::ranges::find(reads_, ticket, &Read::ticket);
  return found == reads_.end() ? nullptr : &*found;
}

RowReads::Ticket RowReads::ticket_of(const Share& share) const {
  const auto found = std::ranges::find(reads_, share, &Read::share);
  return found == reads_.end() ? 0 : found->ticket;
}

const RowReads::Pulls& RowReads::expect(const Share& share) {
  pulls_.clear();
  auto read = std::ranges::find(reads_, share, &Read::share);
  if (read == reads_.end()) {
    drop_stale();
    read = reads_.insert(reads_.end(), {share, ++last_});
    read->arrived.assign(options_.servers, false);
  }
  const bool follows = current_ != 0;
  if (!follows) current_ = read->ticket;
  if (!read->sent && (!follows || options_.ahead)) send(*read);
  return pulls_;
}

// The oldest that is not in use: its share has gone to somebody else, or comes back later.
void RowReads::drop_stale() {
  if (reads_.size() < kMostReads) return;
  const auto stale =
      std::ranges::find_if(reads_, [this](const Read& read) { return read.ticket != current_; });
  drop(*stale);
  reads_.erase(stale);
}

void RowReads::send(Read& read) {
  read.sent = true;
  read.joins = options_.mode != Mode::kSync && !core_.clock();
  ask(read, {0, read.joins ? 1 : options_.servers});
}

void RowReads::ask(const Read& read, Range servers) {
  wire::Pull pull;
  pull.set_ticket(read.ticket);
  if (options_.mode == Mode::kSync) {
    pull.set_version(read.share.step);
  } else {
    pull.set_latest(true);
    if (const auto clock = core_.clock()) pull.set_clock(*clock);
  }
  for (std::uint64_t at = servers.begin; at < servers.end; ++at) {
    const auto server = static_cast<std::uint32_t>(at);
    pull.set_chunk(server);
    const auto forget = std::exchange(forget_[server], {});
    pull.mutable_forget()->Assign(forget.begin(), forget.end());
    pulls_.push_back(pull);
  }
}

void RowReads::drop(const Read& read) {
  if (!read.sent) return;
  for (std::uint32_t server = 0; server < (read.joins ? 1 : options_.servers); ++server) {
    forget_[server].push_back(read.ticket);
  }
}

const RowReads::Pulls& RowReads::arrived(Ticket ticket, std::uint32_t server) {
  pulls_.clear();
  const auto found = std::ranges::find(reads_, ticket, &Read::ticket);
  if (found != reads_.end()) found->arrived[server] = true;
  for (Read& read : reads_) {
    if (!read.joins || !core_.clock()) continue;
    read.joins = false;
    ask(read, {1, options_.servers});
  }
  return pulls_;
}

const RowReads::Pulls& RowReads::finish(bool pushed) {
  pulls_.clear();
  const auto done = std::ranges::find(reads_, std::exchange(current_, 0), &Read::ticket);
  if (!pushed) drop(*done);
  reads_.erase(done);
  for (Read& read : reads_) {  // of the next share
    if (!read.sent) send(read);
  }
  return pulls_;
}

void RowReads::gone(std::uint64_t version) {
  std::erase_if(reads_, [&](const Read& read) {
    const bool done = read.ticket != current_ && read.sent && read.share.step < version;
    if (done) drop(read);
    return done;
  });
}

bool RowReads::awaits(Ticket ticket, std::uint32_t server) const {
  const Read* read = find(ticket);
  return read != nullptr && !read->arrived[server];
}

bool RowReads::complete() const {
  const Read* read = find(current_);
  return read != nullptr && std::ranges::all_of(read->arrived, std::identity());
}

std::vector<std::uint32_t> RowReads::owing() const {
  std::vector<std::uint32_t> servers;
  for (std::uint32_t server = 0; server < options_.servers; ++server) {
    if (awaits(current_, server)) servers.push_back(server);
  }
  return servers;
}

}  // namespace paceline
