// Threads that prepare as if they were processes: what they tell each other goes through memory,
// and the output through one handle.
#pragma once

#include <fmt/format.h>
#include <hdf5.h>

#include <barrier>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "base/file/file.h"
#include "data/hdf5.h"
#include "prepare/fleet.h"

namespace paceline {

class ThreadFleet : public Fleet {
 public:
  // What all threads have in common.
  struct Shared {
    Shared(std::size_t count, bool on_one_host)
        : size(count),
          one_host(on_one_host),
          barrier(static_cast<std::ptrdiff_t>(count)),
          words(count),
          files(count) {}
    std::size_t size;
    bool one_host;  // else each has its own
    std::barrier<> barrier;
    std::vector<std::string> words;
    std::vector<std::vector<std::vector<FilePiece>>> files;
    std::mutex mutex;
    std::unique_ptr<hdf5::File> output;
  };

  ThreadFleet(Shared& shared, std::size_t rank) : shared_(shared), rank_(rank) {}

  std::size_t rank() const override { return rank_; }
  std::size_t size() const override { return shared_.size; }
  unsigned neighbours() const override {
    return shared_.one_host ? static_cast<unsigned>(shared_.size) : 1;
  }
  std::string host() const override { return "a thread"; }

  std::vector<std::string> gather(const std::string& mine) override {
    shared_.words[rank_] = mine;
    shared_.barrier.arrive_and_wait();
    std::vector<std::string> all = shared_.words;
    shared_.barrier.arrive_and_wait();
    return all;
  }

  std::vector<std::filesystem::path> exchange(const std::vector<std::vector<FilePiece>>& outgoing,
                                              const Place& place) override {
    shared_.files[rank_] = outgoing;
    shared_.barrier.arrive_and_wait();
    std::vector<std::filesystem::path> received;
    for (std::size_t from = 0; from < shared_.size; ++from) {
      if (from == rank_) continue;
      const auto& pieces = shared_.files[from][rank_];
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        received.push_back(place(from, i));
        write_atomically(
            received.back(),
            read_text(pieces[i].path).substr(pieces[i].begin, pieces[i].end - pieces[i].begin) +
                pieces[i].tail);
      }
    }
    shared_.barrier.arrive_and_wait();
    return received;
  }

  std::unique_ptr<SharedTables> open(const std::filesystem::path& file) override {
    const std::lock_guard lock(shared_.mutex);
    if (!shared_.output) {
      shared_.output =
          std::make_unique<hdf5::File>(H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
    }
    return std::make_unique<Tables>(*this);
  }

  void abandon(const Error& reason) override {
    fmt::print(stderr, "thread {}: {}\n", rank_, reason.what());
    std::abort();
  }

 private:
  class Tables : public SharedTables {
   public:
    explicit Tables(ThreadFleet& fleet) : fleet_(fleet) {}
    ~Tables() override {  // the last one closes it
      fleet_.shared_.barrier.arrive_and_wait();
      const std::lock_guard lock(fleet_.shared_.mutex);
      fleet_.shared_.output.reset();
    }
    void write(const std::string& table, std::uint64_t first, std::uint64_t count,
               const std::string& rows) override {
      fleet_.shared_.barrier.arrive_and_wait();
      if (count == 0) return;
      const std::lock_guard lock(fleet_.shared_.mutex);
      const hdf5::Table open(H5Dopen2(*fleet_.shared_.output, table.c_str(), H5P_DEFAULT));
      const hdf5::Space space(H5Dget_space(open));
      const hdf5::Type type(H5Dget_type(open));
      hsize_t size[2] = {0, 1};
      H5Sget_simple_extent_dims(space, size, nullptr);
      const hsize_t begin[2] = {first, 0};
      const hsize_t block[2] = {count, size[1]};
      H5Sselect_hyperslab(space, H5S_SELECT_SET, begin, nullptr, block, nullptr);
      const hdf5::Space memory(H5Screate_simple(H5Sget_simple_extent_ndims(space), block, nullptr));
      PACELINE_CHECK(rows.size() == count * size[1] * H5Tget_size(type));
      PACELINE_CHECK(H5Dwrite(open, type, memory, space, H5P_DEFAULT, rows.data()) >= 0);
    }

   private:
    ThreadFleet& fleet_;
  };

  Shared& shared_;
  std::size_t rank_;
};

// Calls `work` in so many threads, each with a fleet of all; throws what the first of them threw.
inline void run_fleet(std::size_t processes, const std::function<void(Fleet&)>& work,
                      bool one_host = true) {
  ThreadFleet::Shared shared(processes, one_host);
  std::vector<std::exception_ptr> thrown(processes);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < processes; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        ThreadFleet fleet(shared, rank);
        work(fleet);
      } catch (...) {
        thrown[rank] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& exception : thrown) {
    if (exception) std::rethrow_exception(exception);
  }
}

}  // namespace paceline
