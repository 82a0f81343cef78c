// Readers of a pinned server over real sockets, in one loop with it.
#include "exchange/ps/pinned_server.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/temp_dir.h"
#include "exchange/ps/reader.h"
#include "net/socket.h"

namespace paceline {
namespace {

constexpr std::uint64_t kPinnedFloats = 100;
constexpr std::uint64_t kPinnedRun = 5;
constexpr std::uint64_t kPinnedNumber = 7;
constexpr Duration kReadSoon = std::chrono::seconds(20);

class Pinned : public ::testing::Test {
 protected:
  Pinned() {
    LinkOptions options;
    options.run = kPinnedRun;
    listener_ = std::make_unique<Listener>(
        loop_, Address{Address::Kind::kUnix, (dir_.path() / "keeper.sock").string(), 0}, options,
        [this](std::shared_ptr<Link> link) { return server_.accept(std::move(link)); });
    auto version = std::make_shared<PinnedVersion>();
    version->values = Buffer::floats(kPinnedFloats);
    std::iota(version->values.as_floats().begin(), version->values.as_floats().end(), 0.0F);
    server_.pin(kPinnedNumber, version);
  }

  // Connects, reads the version and leaves.
  std::vector<float> read_once() {
    wire::ServerAt at;
    at.set_name("keeper");
    at.set_address(listener_->address().text());
    PsReader reader(loop_, map_, {{at}, {kPinnedRun, "digest", "evaluator", "evaluator0"}, 1},
                    kReadSoon);
    std::vector<float> values(kPinnedFloats);
    reader.read(kPinnedNumber, values);
    return values;
  }
  bool left_by_all() {
    return loop_.run_until([this] { return server_.clients() == 0; }, Clock::now() + kReadSoon);
  }

  TempDir dir_;
  Loop loop_;
  ChunkMap map_{kPinnedFloats, 1, 30};
  PinnedServer server_{map_, "digest"};
  std::unique_ptr<Listener> listener_;
};

TEST_F(Pinned, AnswersWithWhatWasPinned) {
  std::vector<float> expected(kPinnedFloats);
  std::iota(expected.begin(), expected.end(), 0.0F);
  EXPECT_EQ(read_once(), expected);
}

// A run has as many readers as it has savers and evaluators, one after the other.
TEST_F(Pinned, ForgetsClientsThatHaveLeftButNotTheirBytes) {
  for (int i = 0; i < 5; ++i) {
    read_once();
    ASSERT_TRUE(left_by_all());
  }
  const LinkCounters five = server_.counters();
  EXPECT_GE(five.bytes_out, 5 * kPinnedFloats * sizeof(float));
  read_once();
  ASSERT_TRUE(left_by_all());
  EXPECT_GT(server_.counters().bytes_out, five.bytes_out);
  EXPECT_GT(server_.counters().bytes_in, five.bytes_in);
}

}  // namespace
}  // namespace paceline
