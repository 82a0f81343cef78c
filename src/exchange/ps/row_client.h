// The worker's exchange of a table with parameter servers: of each share, the rows that it
// touches come, and their gradients go.
//
// parameters() and gradient() are as long as the share's list of keys (data/sparse/touched.h),
// in its order. The rows of the next share are asked for while this one is computed: in sync mode
// at the version that follows, which the servers send once it is there; otherwise, if the
// staleness allows it, as they are now.
#pragma once

#include <cstdint>
#include <list>
#include <vector>

#include "base/buffer.h"
#include "exchange/ps/ps_exchange.h"
#include "exchange/row_deal.h"

namespace paceline {

struct RowClientOptions {
  PsClientOptions client;
  bool ahead = false;  // async and ssp: rows may be read one share ahead
};

class RowClient final : public PsExchange {
 public:
  RowClient(Loop& loop, const RowDeal& deal, const RowClientOptions& options, PsAddress address,
            TellChief tell);
  ~RowClient() override { pump_.stop(); }

  bool expects() const override { return true; }
  void expect(const Share& share, const Batch& batch) override;
  void begin(double weight) override;
  std::span<const float> parameters() const override { return current_->values.as_floats(); }
  std::span<float> gradient() override { return gradient_.as_floats().first(current_->keys); }
  void await(Range floats) override;
  void ready(Range) override {}
  void finish(const Loss& loss, const TreeSum* tree) override;

 private:
  struct Read {  // of the rows of a share
    Share share;
    std::uint64_t ticket = 0;
    bool sent = false;
    bool joins = false;  // only the first server was asked, and has not answered
    std::size_t keys = 0;
    std::vector<RowDeal::Part> parts;  // by server
    std::vector<bool> arrived;
    Buffer values;  // by place in the share's list of keys
  };

  std::span<std::byte> place(const wire::Params& params, const FrameHeader& header) override;
  void arrived(const wire::Params& params, const FrameHeader& header) override;
  void gone(const wire::Refusal& refusal) override;
  std::uint32_t server_of(std::uint32_t chunk) const override { return chunk; }

  Read* find(std::uint64_t ticket);
  Read* find(const Share& share);
  void drop_stale();
  void send(Read& read);
  void ask(const Read& read, Range servers);
  void drop(const Read& read);
  std::string missing() const;

  RowDeal deal_;
  bool ahead_;
  // `mutex_` guards what follows, too, but of the current read only what has arrived.
  std::list<Read> reads_;
  std::vector<Buffer> arriving_;                    // by server
  std::vector<std::shared_ptr<Buffer>> packed_;     // by server: the last push
  std::vector<std::vector<std::uint64_t>> forget_;  // by server: tickets that it need not keep
  std::uint64_t last_ticket_ = 0;
  Read* current_ = nullptr;  // that is computed from
  Buffer gradient_;
};

}  // namespace paceline
