#include "data/loader.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/threads.h"

namespace paceline {
namespace {

// One share to read. A reading thread keeps it alive while it fills it, so a share that
// is no longer wanted is simply dropped.
struct Task {
  Share share;
  Batch batch;
  std::exception_ptr error;
  enum { kWaiting, kReading, kDone } state = kWaiting;
};

}  // namespace

struct Loader::Impl {
  const Dataset& dataset;
  const Order& order;
  const Grid grid;
  const LoaderOptions options;
  const Predict next;
  const LoaderActivities activities;

  std::shared_ptr<Task> current;  // what load() returned last
  std::shared_ptr<Task> peeked;   // read already, for a load() to come
  Batch spare;                    // memory of the one before, for the next task

  // `mutex` guards what follows and the state of every task in `ahead`.
  std::mutex mutex;
  std::condition_variable work;
  std::condition_variable done;
  std::deque<std::shared_ptr<Task>> ahead;  // predicted shares, soonest first
  bool stopping = false;
  Threads threads;

  Impl(const Dataset& d, const Order& o, const Grid& g, LoaderOptions l, Predict n,
       const LoaderActivities& a)
      : dataset(d), order(o), grid(g), options(l), next(std::move(n)), activities(a) {}

  void read(Task& task) const {
    const std::uint64_t epoch = grid.epoch_of(task.share.step);
    const Range positions = grid.positions(task.share);
    task.batch.epoch = epoch;
    task.batch.examples.resize(positions.size());
    order.examples(epoch, positions, task.batch.examples);
    dataset.read(task.batch.examples, task.batch);
  }

  void keep_reading(Activity& activity);
  void wait_for(Task& task, std::unique_lock<std::mutex>& lock);
  void drop_until(const Share& share);
  void predict_after(Share share);
  std::shared_ptr<Task> take(const Share& share);
  void stop();
};

// What each reading thread does: the soonest share that nobody has begun.
void Loader::Impl::keep_reading(Activity& activity) {
  activity.adopt();
  std::unique_lock lock(mutex);
  while (!stopping) {
    const auto waiting = std::find_if(
        ahead.begin(), ahead.end(), [](const auto& task) { return task->state == Task::kWaiting; });
    if (waiting == ahead.end()) {
      work.wait(lock);
      continue;
    }
    const std::shared_ptr<Task> task = *waiting;
    task->state = Task::kReading;
    lock.unlock();
    activity.at(task->share.step);
    activity.begin(Activity::Kind::kBusy, "reading ahead the data of step");
    try {
      read(*task);
    } catch (...) {
      task->error = std::current_exception();
    }
    activity.begin(Activity::Kind::kIdle, "");
    lock.lock();
    task->state = Task::kDone;
    done.notify_all();
  }
}

void Loader::Impl::wait_for(Task& task, std::unique_lock<std::mutex>& lock) {
  if (task.state == Task::kDone) return;
  Activity* caller = activities.caller;
  if (caller != nullptr) caller->begin(Activity::Kind::kWaiting, "waiting for the data of step");
  done.wait(lock, [&] { return task.state == Task::kDone; });
  if (caller != nullptr) caller->begin(Activity::Kind::kBusy, "reading the data of step");
}

// Shares predicted before the one asked for were wrong guesses; all of them, if it was
// not predicted.
void Loader::Impl::drop_until(const Share& share) {
  while (!ahead.empty() && ahead.front()->share != share) ahead.pop_front();
}

void Loader::Impl::predict_after(Share share) {
  if (!ahead.empty()) share = ahead.back()->share;
  while (ahead.size() < options.depth) {
    const std::optional<Share> predicted = next(share);
    if (!predicted) return;
    share = *predicted;
    auto task = std::make_shared<Task>();
    task->share = share;
    task->batch = std::exchange(spare, {});
    ahead.push_back(std::move(task));
    work.notify_one();
  }
}

// The share's task, read to its end; the shares after it are under way by then.
std::shared_ptr<Task> Loader::Impl::take(const Share& share) {
  std::unique_lock lock(mutex);
  drop_until(share);
  std::shared_ptr<Task> task;
  if (!ahead.empty()) {
    task = std::move(ahead.front());
    ahead.pop_front();
  }
  predict_after(share);
  if (task && task->state != Task::kWaiting) {
    wait_for(*task, lock);
    if (task->error) std::rethrow_exception(task->error);
    return task;
  }
  // Not predicted, or no thread has come to it yet: then reading it here is soonest.
  lock.unlock();
  if (!task) task = std::make_shared<Task>(Task{.share = share, .batch = {}, .error = {}});
  read(*task);
  return task;
}

void Loader::Impl::stop() {
  {
    const std::lock_guard lock(mutex);
    stopping = true;
  }
  work.notify_all();
  threads.join();
}

std::size_t reading_threads(const LoaderOptions& options) {
  return options.depth == 0 ? 0 : std::clamp<std::size_t>(options.threads, 1, options.depth);
}

Loader::Loader(const Dataset& dataset, const Order& order, const Grid& grid, LoaderOptions options,
               Predict next, const LoaderActivities& activities)
    : impl_(std::make_unique<Impl>(dataset, order, grid, options, std::move(next), activities)) {
  impl_->current = std::make_shared<Task>();
  if (options.depth == 0) return;
  PACELINE_CHECK(impl_->next != nullptr);
  try {
    impl_->threads.start(reading_threads(options), [impl = impl_.get()](std::size_t number) {
      Activity nobody_looks("");
      std::deque<Activity>* readers = impl->activities.readers;
      impl->keep_reading(readers != nullptr ? readers->at(number) : nobody_looks);
    });
  } catch (const ResourceError&) {
    impl_->stop();
    throw;
  }
}

Loader::~Loader() {
  impl_->stop();
}

const Batch& Loader::peek(const Share& share) {
  if (impl_->peeked && impl_->peeked->share == share) return impl_->peeked->batch;
  if (impl_->options.depth == 0) {
    if (!impl_->peeked) impl_->peeked = std::make_shared<Task>();
    impl_->peeked->share = share;
    impl_->read(*impl_->peeked);
  } else {
    impl_->peeked = impl_->take(share);
  }
  return impl_->peeked->batch;
}

const Batch& Loader::load(const Share& share) {
  if (impl_->peeked && impl_->peeked->share == share) {
    impl_->current.swap(impl_->peeked);
    if (impl_->options.depth > 0) impl_->spare = std::move(std::exchange(impl_->peeked, {})->batch);
  } else if (impl_->options.depth == 0) {
    impl_->current->share = share;
    impl_->read(*impl_->current);
  } else {
    impl_->spare = std::move(impl_->current->batch);
    impl_->current = impl_->take(share);
  }
  return impl_->current->batch;
}

}  // namespace paceline
