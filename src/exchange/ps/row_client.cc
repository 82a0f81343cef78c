#include "exchange/ps/row_client.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"
#include "exchange/codec.h"

namespace paceline {
namespace {

constexpr std::size_t kMostReads = 3;  // this share's, the next one's, and one that was set aside

Payload payload_of(std::string text) {
  auto owner = std::make_shared<const std::string>(std::move(text));
  return {std::as_bytes(std::span(*owner)), owner};
}

}  // namespace

RowClient::RowClient(Loop& loop, const RowDeal& deal, const RowClientOptions& options,
                     PsAddress address, TellChief tell)
    : PsExchange(loop, options.client, std::move(tell)),
      deal_(deal),
      ahead_(options.ahead || options.client.core.mode == Mode::kSync),
      arriving_(deal.servers()),
      packed_(deal.servers()),
      forget_(deal.servers()) {
  connect(std::move(address));
}

RowClient::Read* RowClient::find(std::uint64_t ticket) {
  const auto found = std::ranges::find(reads_, ticket, &Read::ticket);
  return found == reads_.end() ? nullptr : &*found;
}

RowClient::Read* RowClient::find(const Share& share) {
  const auto found = std::ranges::find(reads_, share, &Read::share);
  return found == reads_.end() ? nullptr : &*found;
}

// ---- asking ----------------------------------------------------------------------------

void RowClient::expect(const Share& share, const Batch& batch) {
  const Pump::Hold hold(pump_);
  const std::lock_guard lock(mutex_);
  const bool is_next = current_ != nullptr;
  Read* read = find(share);
  if (read == nullptr) {
    drop_stale();
    read = &reads_.emplace_back();
    read->share = share;
    read->ticket = ++last_ticket_;
    read->keys = batch.touched.size();
    read->arrived.assign(deal_.servers(), false);
    read->values = Buffer(read->keys * sizeof(float));
    deal_.split(batch.touched, read->parts);
  }
  if (!is_next) current_ = read;
  if (!read->sent && (!is_next || ahead_)) send(*read);
}

// The oldest that is not in use: its share has gone to somebody else, or comes back later.
void RowClient::drop_stale() {
  if (reads_.size() < kMostReads) return;
  const auto stale =
      std::ranges::find_if(reads_, [this](const Read& read) { return &read != current_; });
  drop(*stale);
  reads_.erase(stale);
}

// A worker that joins asks the first server alone: its clock comes with the answer, and then it
// asks the others.
void RowClient::send(Read& read) {
  read.sent = true;
  read.joins = options_.core.mode != Mode::kSync && !core_.clock();
  ask(read, {0, read.joins ? 1 : deal_.servers()});
}

void RowClient::ask(const Read& read, Range servers) {
  wire::Pull pull;
  pull.set_ticket(read.ticket);
  if (options_.core.mode == Mode::kSync) {
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
    send_pull(pull, payload_of(encode_rows(read.parts[server].rows)));
  }
}

// The servers need not keep what it named.
void RowClient::drop(const Read& read) {
  if (!read.sent) return;
  for (std::uint32_t server = 0; server < (read.joins ? 1 : deal_.servers()); ++server) {
    forget_[server].push_back(read.ticket);
  }
}

// ---- waiting ---------------------------------------------------------------------------

void RowClient::begin(double weight) {
  contribution_ = {weight, 0, 0, 0, 1};
  if (gradient_.size() < current_->keys * sizeof(float)) {
    gradient_ = Buffer(2 * current_->keys * sizeof(float));
  }
}

std::string RowClient::missing() const {
  std::set<std::uint32_t> owing;
  for (std::uint32_t server = 0; server < deal_.servers(); ++server) {
    if (!current_->arrived[server]) owing.insert(server);
  }
  return fmt::format("{} to send the rows for step {}", connection_->names_of(owing),
                     current_->share.step);
}

void RowClient::await(Range) {
  bool superseded = false;
  const auto there = [&] {
    const std::lock_guard lock(mutex_);
    superseded = core_.superseded();
    return superseded || std::ranges::all_of(current_->arrived, std::identity());
  };
  if (!there()) {
    const Pump::Hold hold(pump_);
    wait_for(there, [&] {
      const std::lock_guard lock(mutex_);
      return missing();
    });
  }
  if (!superseded) return;
  const std::lock_guard lock(mutex_);
  core_.set_aside();
  current_ = nullptr;
  throw ShareSetAside();
}

std::span<std::byte> RowClient::place(const wire::Params& params, const FrameHeader& header) {
  const std::lock_guard lock(mutex_);
  if (const Read* read = find(params.ticket())) {
    if (has_blocks(header.codec) ||
        !fits(header.codec, header.payload_bytes, read->parts[params.chunk()].rows.size())) {
      throw FrameError("rows of the wrong size");
    }
  }
  arriving_[params.chunk()] = Buffer(header.payload_bytes);
  return arriving_[params.chunk()].bytes();
}

void RowClient::arrived(const wire::Params& params, const FrameHeader& header) {
  const std::lock_guard lock(mutex_);
  Buffer arriving = std::exchange(arriving_[params.chunk()], {});  // of no rows, there is none
  if (Read* read = find(params.ticket()); read && !read->arrived[params.chunk()]) {
    const std::vector<std::uint32_t>& places = read->parts[params.chunk()].places;
    Buffer decoded;
    if (header.codec != Codec::kRaw) {
      decoded = Buffer(places.size() * sizeof(float));
      decode(header.codec, arriving.bytes(), decoded.as_floats());
    }
    const std::span<const float> values =
        header.codec == Codec::kRaw ? arriving.as_floats() : decoded.as_floats();
    if (values.size() != places.size()) throw FrameError("rows of the wrong size");
    const std::span<float> into = read->values.as_floats();
    for (std::size_t i = 0; i < places.size(); ++i) into[places[i]] = values[i];
    read->arrived[params.chunk()] = true;
  }
  carry_out(core_.params(params.chunk(), header.base_version, clock_of(params)));
  for (Read& read : reads_) {
    if (!read.joins || !core_.clock()) continue;
    read.joins = false;
    ask(read, {1, deal_.servers()});
  }
}

// What was asked for is not kept any more: those shares are done, by whomever.
void RowClient::gone(const wire::Refusal& refusal) {
  for (auto read = reads_.begin(); read != reads_.end();) {
    const bool done = &*read != current_ && read->sent && read->share.step < refusal.version();
    if (done) drop(*read);
    read = done ? reads_.erase(read) : std::next(read);
  }
}

// ---- pushing ---------------------------------------------------------------------------

void RowClient::finish(const Loss& loss, const TreeSum* tree) {
  const Pump::Hold hold(pump_);
  contribution_ = {loss.weight, loss.sum, loss.correct, loss.examples, 1, loss.predictions};
  if (tree == nullptr) contribution_.scale = own_scale(gradient(), loss);
  bool wanted = true;
  for (std::uint32_t server = 0; server < deal_.servers(); ++server) {
    const std::vector<std::uint32_t>& places = current_->parts[server].places;
    const std::size_t nodes = tree == nullptr ? 1 : tree->nodes().size();
    std::shared_ptr<Buffer>& packed = packed_[server];  // a new one while it is on its way
    float* out = own_buffer(packed, nodes * places.size() * sizeof(float)).as_floats().data();
    const auto pack = [&](std::span<const float> values) {
      for (const std::uint32_t place : places) *out++ = values[place];
    };
    if (tree == nullptr) {
      pack(gradient());
    } else {
      for (const auto& [begin, node] : tree->nodes()) pack(node.second);
    }
    Encoded encoded = encode({std::as_const(*packed).bytes(), packed},
                             tree == nullptr ? options_.wire : WireFormat::kFloat, std::nullopt);
    wanted = send_push(server, current_->ticket, encoded.codec, std::move(encoded.payload));
    if (!wanted) break;
  }
  rows_ += current_->keys;
  const std::lock_guard lock(mutex_);
  if (!wanted) drop(*current_);
  std::erase_if(reads_, [this](const Read& read) { return &read == current_; });
  current_ = nullptr;
  for (Read& read : reads_) {  // of the next share
    if (!read.sent) send(read);
  }
}

}  // namespace paceline
