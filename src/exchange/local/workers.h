// The two kinds of worker that a LocalHub makes: see local_exchange.h.
#pragma once

#include "exchange/local/local_exchange.h"

namespace paceline {

class LocalHub::Worker : public Exchange {
 public:
  Worker(LocalHub& hub, std::uint32_t rank)
      : hub_(hub),
        rank_(rank),
        spin_(hub.options_.spin),
        gradient_(Buffer::floats(hub.values().size())) {}

  std::span<float> gradient() override { return gradient_.as_floats(); }
  void begin(double) override {}
  bool streams() const override { return false; }
  void await(Range) override {}
  void ready(Range) override {}

 protected:
  LocalHub& hub_;
  std::uint32_t rank_;
  Spin spin_;
  Buffer gradient_;
};

class LocalHub::Synchronous final : public Worker {
 public:
  Synchronous(LocalHub& hub, std::uint32_t rank) : Worker(hub, rank), step_(hub.version()) {}

  std::optional<Share> next() override;
  std::optional<Share> after(const Share& share) const override;
  std::span<const float> parameters() const override { return hub_.values_.as_floats(); }
  void finish(const Loss& loss, const TreeSum* tree) override;
  bool streams() const override;
  void ready(Range floats) override;

  const Loss& loss() const { return loss_; }
  const TreeSum* tree() const { return tree_; }

 private:
  Share share_of(std::uint64_t step) const;

  std::uint64_t step_;
  Loss loss_;
  const TreeSum* tree_ = nullptr;
};

class LocalHub::Asynchronous final : public Worker {
 public:
  Asynchronous(LocalHub& hub, std::uint32_t rank);

  std::optional<Share> next() override;
  std::optional<Share> after(const Share&) const override { return std::nullopt; }
  std::span<const float> parameters() const override { return view_.as_floats(); }
  void finish(const Loss& loss, const TreeSum*) override;

 private:
  void update(double weight, double scale);

  std::uint64_t step_ = 0;
  Buffer view_;
  Buffer before_;
  Buffer after_;
  Buffer state_before_;
  Buffer state_after_;
};

}  // namespace paceline
