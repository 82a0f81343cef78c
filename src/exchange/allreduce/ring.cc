#include "exchange/allreduce/ring.h"

#include <gloo/allgatherv.h>
#include <gloo/allreduce.h>
#include <gloo/common/error.h>
#include <gloo/common/logging.h>
#include <gloo/math.h>
#include <gloo/transport/tcp/device.h>

#include <algorithm>
#include <csignal>
#include <mutex>
#include <type_traits>
#include <vector>

#include "base/buffer.h"
#include "base/error.h"
#include "exchange/allreduce/abortable.h"
#include "optim/bf16.h"

namespace paceline {
namespace {

// Gloo's view of the notes.
class Store final : public gloo::rendezvous::Store {
 public:
  explicit Store(RingNotes& notes) : notes_(notes) {}

  void set(const std::string& key, const std::vector<char>& data) override {
    notes_.leave(key, {data.begin(), data.end()});
  }
  std::vector<char> get(const std::string& key) override {
    const std::string note = notes_.find(key);
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
};

}  // namespace

struct Ring::Impl {
  RingOptions options;
  std::shared_ptr<AbortableContext> context;
  std::mutex mutex;  // guards the next
  std::vector<Buffer> spare;

  // What sums of 16 bits are formed in, used again: the pages of a new buffer cost as much as
  // what is computed in it.
  Buffer take_halves(std::size_t bytes);
  void give_back(Buffer buffer);

  template <typename Number>
  void sum(std::span<Number> values, std::uint32_t tag);
  void together(const std::function<void()>& work) const;  // with our words for what fails
};

Ring::Ring(const RingOptions& options) : impl_(std::make_unique<Impl>()) {
  impl_->options = options;
  if (options.size == 1) return;
  impl_->context = std::make_shared<AbortableContext>(static_cast<int>(options.rank),
                                                      static_cast<int>(options.size));
}

void Ring::connect(RingNotes& notes) {
  const RingOptions& options = impl_->options;
  std::signal(SIGPIPE, SIG_IGN);  // Gloo writes to sockets whose peer may be gone
  if (!impl_->context) return;
  gloo::transport::tcp::attr attributes;
  attributes.hostname = options.host;
  std::shared_ptr<gloo::transport::Device> device;
  try {
    device = gloo::transport::tcp::CreateDevice(attributes);
  } catch (const std::exception& error) {
    throw ConfigError(
        "{} cannot use the address {} (--listen, --hosts); is it one of this host's? {}",
        options.name, options.host, error.what());
  }
  try {
    Store store(notes);
    impl_->context->connect(store, device);
  } catch (const gloo::Exception& error) {
    throw CommError("{} cannot join the ring of {} workers: {}", options.name, options.size,
                    error.what());
  } catch (const gloo::EnforceNotMet& error) {  // it was closed before it was to be connected
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

std::uint64_t Ring::moved() const {
  return impl_->context ? impl_->context->moved() : 0;
}

void Ring::close() {
  if (impl_->context) impl_->context->abort();
}

Buffer Ring::Impl::take_halves(std::size_t bytes) {
  const std::lock_guard lock(mutex);
  const auto fits =
      std::ranges::find_if(spare, [bytes](const Buffer& buffer) { return buffer.size() >= bytes; });
  if (fits == spare.end()) return Buffer(bytes);
  Buffer buffer = std::move(*fits);
  spare.erase(fits);
  return buffer;
}

void Ring::Impl::give_back(Buffer buffer) {
  const std::lock_guard lock(mutex);
  spare.push_back(std::move(buffer));
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
  Buffer buffer = impl_->take_halves(values.size() * sizeof(Bf16));
  const std::span halves(reinterpret_cast<Bf16*>(buffer.data()), values.size());
  to_bf16(values, halves);
  impl_->sum(halves, tag);
  from_bf16(halves, values);
  impl_->give_back(std::move(buffer));
}

void Ring::sum(std::span<double> values, std::uint32_t tag) {
  impl_->sum(values, tag);
}

}  // namespace paceline
