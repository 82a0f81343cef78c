#include "exchange/allreduce/ring.h"

#include <gtest/gtest.h>

#include <future>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "exchange/allreduce/abortable.h"
#include "exchange/allreduce/shared_notes.h"

namespace paceline {
namespace {

constexpr std::size_t kPieceFloats = kRingPiece / sizeof(float);
constexpr Duration kRingSoon = std::chrono::seconds(20);

std::unique_ptr<Ring> make_ring(std::uint32_t rank, std::uint32_t size) {
  return std::make_unique<Ring>(
      RingOptions{rank, size, "127.0.0.1", "worker" + std::to_string(rank), WireFormat::kFloat});
}

std::vector<std::unique_ptr<Ring>> make_rings(std::uint32_t size) {
  SharedNotes notes;
  std::vector<std::unique_ptr<Ring>> rings(size);
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      rings[rank] = make_ring(rank, size);
      rings[rank]->connect(notes);
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

// Of a piece that nobody takes yet: the word that there is something to send.
TEST(Ring, TheSystemTellsWhatMovesBeforeAPieceDoes) {
  const auto rings = make_rings(3);
  const auto moved = [&] { return rings[0]->moved() + rings[1]->moved() + rings[2]->moved(); };
  const std::uint64_t before = moved();
  std::vector<float> values(kPieceFloats);
  auto summing = std::async(std::launch::async, [&] { rings[0]->sum(values, 1); });
  const TimePoint limit = Clock::now() + kRingSoon;
  while (moved() == before && Clock::now() < limit) std::this_thread::yield();
  EXPECT_GT(moved(), before);
  EXPECT_EQ(rings[0]->counters().bytes_out + rings[0]->counters().bytes_in, 0U);
  rings[0]->close();
  EXPECT_THROW(summing.get(), CommError);
}

TEST(Ring, TheSystemTellsOfEverythingThatMoved) {
  const auto rings = make_rings(2);
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      std::vector<float> values(kPieceFloats);
      rings[rank]->sum(std::span<float>(values), 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  // Both have sent as much, and one end of the connection knows of it.
  EXPECT_GE(rings[0]->moved() + rings[1]->moved(), 2 * kPieceFloats * sizeof(float));
}

// Notes of a second member that has left its address, and that does not connect.
class LateMember final : public RingNotes {
 public:
  void leave(const std::string&, const std::string& note) override { first_ = note; }
  std::string find(const std::string&) override {
    if (!std::exchange(known_, true)) asked_.set_value();
    std::string note = first_;
    note[2] = note[3] = '\xff';  // the port: of two members the one with the higher connects
    return note;
  }
  bool is_asked() { return asked_.get_future().wait_for(kRingSoon) == std::future_status::ready; }

 private:
  std::string first_;
  bool known_ = false;
  std::promise<void> asked_;
};

// However long it takes: what ends the wait is close().
TEST(Ring, AMemberThatDoesNotConnectIsWaitedForUntilClosed) {
  LateMember late;
  const auto ring = make_ring(0, 2);
  auto connecting = std::async(std::launch::async, [&] { ring->connect(late); });
  ASSERT_TRUE(late.is_asked());
  EXPECT_EQ(connecting.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  ring->close();
  EXPECT_THROW(connecting.get(), CommError);
}

TEST(Ring, OneThatIsClosedDoesNotConnect) {
  SharedNotes notes;
  const auto ring = make_ring(0, 2);
  ring->close();
  EXPECT_THROW(ring->connect(notes), CommError);
}

}  // namespace
}  // namespace paceline
