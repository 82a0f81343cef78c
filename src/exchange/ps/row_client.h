// The worker's exchange of a table with parameter servers: of each share, the rows that it
// touches come, and their gradients go.
//
// parameters() and gradient() are as long as the share's list of keys (data/sparse/touched.h),
// in its order. The rows of the next share are asked for while this one is computed: in sync mode
// at the version that follows, which the servers send once it is there; otherwise, if the
// staleness allows it, as they are now.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/buffer.h"
#include "exchange/ps/ps_exchange.h"
#include "exchange/ps/row_reads.h"
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
  struct Rows {  // of one read
    std::size_t keys = 0;
    std::vector<RowDeal::Part> parts;  // by server
    Buffer values;                     // by place in the share's list of keys
  };

  std::span<std::byte> place(const wire::Params& params, const FrameHeader& header) override;
  void arrived(const wire::Params& params, const FrameHeader& header) override;
  void gone(const wire::Refusal& refusal) override { reads_.gone(refusal.version()); }
  std::uint32_t server_of(std::uint32_t chunk) const override { return chunk; }

  void send(const RowReads::Pulls& pulls);
  void fill_in(Rows& rows, std::uint32_t server, Codec codec, const Buffer& values);
  std::string missing() const;

  RowDeal deal_;
  // `mutex_` guards what follows, too, but of the current rows only what has arrived.
  RowReads reads_;
  std::map<RowReads::Ticket, Rows> rows_of_;
  std::vector<Buffer> arriving_;                 // by server
  std::vector<std::shared_ptr<Buffer>> packed_;  // by server: the last push
  Rows* current_ = nullptr;                      // that is computed from
  Buffer gradient_;
};

}  // namespace paceline
