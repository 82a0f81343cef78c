#include "exchange/ps/row_client.h"

#include <utility>

#include "base/error.h"
#include "exchange/codec.h"

namespace paceline {
namespace {

Payload payload_of(std::string text) {
  auto owner = std::make_shared<const std::string>(std::move(text));
  return {std::as_bytes(std::span(*owner)), owner};
}

}  // namespace

RowClient::RowClient(Loop& loop, const RowDeal& deal, const RowClientOptions& options,
                     PsAddress address, TellChief tell)
    : PsExchange(loop, options.client, std::move(tell)),
      deal_(deal),
      reads_({options.client.core.mode, deal.servers(),
              options.ahead || options.client.core.mode == Mode::kSync},
             core_),
      arriving_(deal.servers()),
      packed_(deal.servers()) {
  connect(std::move(address));
}

// ---- asking ----------------------------------------------------------------------------

void RowClient::expect(const Share& share, const Batch& batch) {
  const Pump::Hold hold(pump_);
  const std::lock_guard lock(mutex_);
  const RowReads::Pulls& pulls = reads_.expect(share);
  std::erase_if(rows_of_, [this](const auto& entry) { return !reads_.keeps(entry.first); });
  const auto [entry, is_new] = rows_of_.try_emplace(reads_.ticket_of(share));
  Rows& rows = entry->second;
  if (is_new) {
    rows.keys = batch.touched.size();
    rows.values = Buffer(rows.keys * sizeof(float));
    deal_.split(batch.touched, rows.parts);
  }
  if (reads_.current() == entry->first) current_ = &rows;
  send(pulls);
}

void RowClient::send(const RowReads::Pulls& pulls) {
  for (const wire::Pull& pull : pulls) {
    const Rows& rows = rows_of_.at(pull.ticket());
    send_pull(pull, payload_of(encode_rows(rows.parts[pull.chunk()].rows)));
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
  const std::vector<std::uint32_t> owing = reads_.owing();
  return fmt::format("{} to send the rows for step {}",
                     connection_->names_of({owing.begin(), owing.end()}), core_.current_step());
}

void RowClient::await(Range) {
  bool superseded = false;
  const auto there = [&] {
    const std::lock_guard lock(mutex_);
    superseded = core_.superseded();
    return superseded || reads_.complete();
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
  reads_.set_aside();
  current_ = nullptr;
  throw ShareSetAside();
}

std::span<std::byte> RowClient::place(const wire::Params& params, const FrameHeader& header) {
  const std::lock_guard lock(mutex_);
  if (reads_.keeps(params.ticket())) {
    const Rows& rows = rows_of_.at(params.ticket());
    if (has_blocks(header.codec) ||
        !fits(header.codec, header.payload_bytes, rows.parts[params.chunk()].rows.size())) {
      throw FrameError("rows of the wrong size");
    }
  }
  arriving_[params.chunk()] = Buffer(header.payload_bytes);
  return arriving_[params.chunk()].bytes();
}

void RowClient::arrived(const wire::Params& params, const FrameHeader& header) {
  const std::lock_guard lock(mutex_);
  const std::uint32_t server = params.chunk();
  const Buffer values = std::exchange(arriving_[server], {});  // of no rows, there is none
  if (reads_.awaits(params.ticket(), server)) {
    fill_in(rows_of_.at(params.ticket()), server, header.codec, values);
  }
  carry_out(core_.params(server, header.base_version, clock_of(params)));
  send(reads_.arrived(params.ticket(), server));
}

void RowClient::fill_in(Rows& rows, std::uint32_t server, Codec codec, const Buffer& values) {
  const std::vector<std::uint32_t>& places = rows.parts[server].places;
  Buffer decoded;
  std::span<const float> floats = values.as_floats();
  if (codec != Codec::kRaw) {
    decoded = Buffer(places.size() * sizeof(float));
    decode(codec, values.bytes(), decoded.as_floats());
    floats = decoded.as_floats();
  }
  if (floats.size() != places.size()) throw FrameError("rows of the wrong size");
  const std::span<float> into = rows.values.as_floats();
  for (std::size_t i = 0; i < places.size(); ++i) into[places[i]] = floats[i];
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
    wanted = send_push(server, reads_.current(), encoded.codec, std::move(encoded.payload));
    if (!wanted) break;
  }
  rows_ += current_->keys;
  const std::lock_guard lock(mutex_);
  current_ = nullptr;
  send(reads_.finish(wanted));
}

}  // namespace paceline
