#include "exchange/allreduce/ring.h"

#include <gtest/gtest.h>

#include <future>
#include <numeric>
#include <thread>
#include <vector>

#include "base/error.h"
#include "exchange/allreduce/abortable.h"
#include "exchange/allreduce/shared_notes.h"

namespace paceline {
namespace {

constexpr std::size_t kPieceFloats = kRingPiece / sizeof(float);
constexpr Duration kRingSoon = std::chrono::seconds(20);

std::vector<std::unique_ptr<Ring>> make_rings(std::uint32_t size) {
  SharedNotes notes;
  std::vector<std::unique_ptr<Ring>> rings(size);
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      const RingOptions options{
          rank, size, "127.0.0.1", kRingSoon, "worker" + std::to_string(rank), WireFormat::kFloat};
      rings[rank] = std::make_unique<Ring>(options, notes);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return rings;
}

// Of lengths around those at which messages are cut.
TEST(Ring, EveryoneGetsEverythingHoweverLongItIs) {
  const auto rings = make_rings(3);
  for (const std::size_t length :
       {std::size_t{1}, kPieceFloats - 1, kPieceFloats, kPieceFloats + 1, 3 * kPieceFloats + 7}) {
    const std::vector<std::size_t> counts = {length, 0, 2 * length};
    std::vector<std::thread> threads;
    for (std::uint32_t rank = 0; rank < rings.size(); ++rank) {
      threads.emplace_back([&, rank] {
        std::vector<float> all(3 * length, -1.0F);
        const std::size_t begin = rank == 2 ? length : 0;
        for (std::size_t i = 0; i < counts[rank]; ++i) {
          all[begin + i] = static_cast<float>(begin + i);
        }
        rings[rank]->gather(all, counts, 1);
        for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], static_cast<float>(i));
        std::vector<float> ones(length, static_cast<float>(rank + 1));
        rings[rank]->sum(std::span<float>(ones), 2);
        ASSERT_EQ(ones, std::vector<float>(length, 6.0F));
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

// The third member is slow: what the first two move meanwhile is seen all the same.
TEST(Ring, BytesAreCountedWhileTheyMove) {
  const auto rings = make_rings(3);
  const std::vector<std::size_t> counts(3, 2 * kPieceFloats + 5);
  std::vector<std::future<void>> gathering;
  for (const std::uint32_t rank : {0, 1}) {
    gathering.push_back(std::async(std::launch::async, [&, rank] {
      std::vector<float> all(3 * counts[0]);
      rings[rank]->gather(all, counts, 1);
    }));
  }
  const auto moved = [&] {
    const LinkCounters first = rings[0]->counters();
    const LinkCounters second = rings[1]->counters();
    return first.bytes_in + first.bytes_out + second.bytes_in + second.bytes_out;
  };
  const TimePoint limit = Clock::now() + kRingSoon;
  while (moved() < counts[0] * sizeof(float) && Clock::now() < limit) std::this_thread::yield();
  EXPECT_GE(moved(), counts[0] * sizeof(float));
  for (const auto& ring : rings) ring->close();
  for (auto& gathered : gathering) EXPECT_THROW(gathered.get(), CommError);
}

TEST(Ring, CountsWhatItMoves) {
  const auto rings = make_rings(2);
  constexpr std::size_t kSummedFloats = 1000;
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      std::vector<float> values(kSummedFloats);
      rings[rank]->sum(std::span<float>(values), 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& ring : rings) {
    EXPECT_EQ(ring->counters().bytes_in, kSummedFloats * sizeof(float));
    EXPECT_EQ(ring->counters().bytes_out, kSummedFloats * sizeof(float));
  }
}

}  // namespace
}  // namespace paceline
