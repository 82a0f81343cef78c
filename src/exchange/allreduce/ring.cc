#include "exchange/allreduce/ring.h"

#include <gloo/allgatherv.h>
#include <gloo/allreduce.h>
#include <gloo/common/error.h>
#include <gloo/math.h>
#include <gloo/transport/tcp/device.h>

#include <csignal>
#include <mutex>
#include <type_traits>

#include "base/buffer.h"
#include "base/error.h"
#include "exchange/allreduce/abortable.h"
#include "optim/bf16.h"

namespace paceline {
namespace {

// A member may have good reasons to be slow. The chief sees whether it hangs, and close() ends all
// waits.
constexpr std::chrono::milliseconds kNever = std::chrono::hours(24 * 365);

std::chrono::milliseconds milliseconds(Duration duration) {
  return std::chrono::ceil<std::chrono::milliseconds>(duration);
}

// Gloo's view of the notes.
class Store final : public gloo::rendezvous::Store {
 public:
  Store(RingNotes& notes, Duration deadline) : notes_(notes), deadline_(deadline) {}

  void set(const std::string& key, const std::vector<char>& data) override {
    notes_.leave(key, {data.begin(), data.end()});
  }
  std::vector<char> get(const std::string& key) override {
    const std::string note = notes_.find(key, Clock::now() + deadline_);
    return {note.begin(), note.end()};
  }
  void wait(const std::vector<std::string>& keys) override {
    for (const std::string& key : keys) get(key);
  }
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds&) override {
    wait(keys);
  }

 private:
  RingNotes& notes_;
  Duration deadline_;
};

}  // namespace

struct Ring::Impl {
  RingOptions options;
  std::shared_ptr<AbortableContext> context;

  template <typename Number>
  void sum(std::span<Number> values, std::uint32_t tag);
  void together(const std::function<void()>& work) const;  // with our words for what fails
};

Ring::Ring(const RingOptions& options, RingNotes& notes) : impl_(std::make_unique<Impl>()) {
  impl_->options = options;
  std::signal(SIGPIPE, SIG_IGN);  // Gloo writes to sockets whose peer may be gone
  if (options.size == 1) return;
  try {
    gloo::transport::tcp::attr attributes;
    attributes.hostname = options.host;
    auto device = gloo::transport::tcp::CreateDevice(attributes);
    impl_->context = std::make_shared<AbortableContext>(static_cast<int>(options.rank),
                                                        static_cast<int>(options.size));
    impl_->context->setTimeout(milliseconds(options.deadline));
    Store store(notes, options.deadline);
    impl_->context->connectFullMesh(store, device);
    impl_->context->setTimeout(kNever);
    impl_->context->make_abortable();
  } catch (const gloo::Exception& error) {
    throw CommError("{} cannot join the ring of {} workers: {}", options.name, options.size,
                    error.what());
  }
}

Ring::~Ring() {
  close();
}

LinkCounters Ring::counters() const {
  return impl_->context ? impl_->context->counters() : LinkCounters();
}

void Ring::close() {
  if (!impl_->context) return;
  impl_->context->abort();
  impl_->context->closeConnections();
}

template <typename Number>
void Ring::Impl::sum(std::span<Number> values, std::uint32_t tag) {
  if (!context || values.empty()) return;
  const auto add = [](void* sum, const void* a, const void* b, std::size_t count) {
    if constexpr (std::is_same_v<Number, Bf16>) {
      add_bf16({static_cast<Bf16*>(sum), count}, {static_cast<const Bf16*>(a), count},
               {static_cast<const Bf16*>(b), count});
    } else {
      gloo::sum<Number>(sum, a, b, count);
    }
  };
  together([&] {
    gloo::AllreduceOptions allreduce(context);
    allreduce.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
    allreduce.setOutput(values.data(), values.size());
    allreduce.setReduceFunction(add);
    allreduce.setTag(tag);
    gloo::allreduce(allreduce);
  });
}

void Ring::Impl::together(const std::function<void()>& work) const {
  try {
    work();
  } catch (const gloo::Exception& error) {
    throw CommError("{} has lost the ring of {} workers: {}", options.name, options.size,
                    error.what());
  }
}

void Ring::gather(std::span<float> all, std::span<const std::size_t> counts, std::uint32_t tag) {
  if (!impl_->context || all.empty()) return;
  impl_->together([&] {
    gloo::AllgathervOptions gathering(impl_->context);
    gathering.setOutput(all.data(), std::vector<std::size_t>(counts.begin(), counts.end()));
    gathering.setTag(tag);
    gloo::allgatherv(gathering);
  });
}

void Ring::sum(std::span<float> values, std::uint32_t tag) {
  if (impl_->options.wire == WireFormat::kFloat) return impl_->sum(values, tag);
  Buffer buffer(values.size() * sizeof(Bf16));
  const std::span halves(reinterpret_cast<Bf16*>(buffer.data()), values.size());
  to_bf16(values, halves);
  impl_->sum(halves, tag);
  from_bf16(halves, values);
}

void Ring::sum(std::span<double> values, std::uint32_t tag) {
  impl_->sum(values, tag);
}

}  // namespace paceline
