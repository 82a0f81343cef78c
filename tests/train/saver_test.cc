// The saver against a real server of versions; a pipe that nobody empties stands for a disk that
// stalls.
#include "train/saver.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <future>
#include <thread>

#include "base/file/file.h"
#include "base/temp_dir.h"
#include "exchange/ps/pinned_server.h"
#include "net/socket.h"
#include "train/synthetic_config.h"

namespace paceline {
namespace {

constexpr std::uint64_t kRun = 3;
constexpr std::uint64_t kVersion = 10;
constexpr Duration kNever = std::chrono::hours(1);

// Whose thread does something else, until it is released.
class BusyLoop {
 public:
  explicit BusyLoop(Loop& loop) {
    loop.post([busy = busy_] { busy->get_future().wait(); });
  }
  void release() const { busy_->set_value(); }

 private:
  std::shared_ptr<std::promise<void>> busy_ = std::make_shared<std::promise<void>>();
};

class SaverTest : public ::testing::Test {
 protected:
  explicit SaverTest(std::uint32_t width = 10000) {  // more than a pipe holds
    config_.data.synthetic.width = width;
    config_.run_dir = dir_.path();
    write_atomically(dir_.path() / "config.toml", "");
    workload_.emplace(make_workload(config_));
    server_ = std::make_unique<PinnedServer>(workload_->chunks, "digest");
    LinkOptions options;
    options.run = kRun;
    listener_ = std::make_unique<Listener>(
        loop_, Address{Address::Kind::kUnix, (dir_.path() / "server0.sock").string(), 0}, options,
        [this](std::shared_ptr<Link> link) { return server_->accept(std::move(link)); });
    auto version = std::make_shared<PinnedVersion>();
    version->values = Buffer::floats(workload_->chunks.floats());
    version->state = Buffer::floats(0);
    server_->pin(kVersion, version);
    serving_ = std::thread([this] { loop_.run(); });
    std::filesystem::create_directories(path().parent_path());
  }
  ~SaverTest() override {
    loop_.stop();
    serving_.join();
  }

  std::filesystem::path path() const { return checkpoint_path(dir_.path(), kVersion); }

  void start() {
    wire::ServerAt at;
    at.set_name("server0");
    at.set_address(listener_->address().text());
    saver_ = std::make_unique<Saver>(
        config_, workload_->chunks, PsAddress{{at}, {kRun, "digest", "chief", "chief"}, 0},
        [this](std::uint64_t version, const std::optional<Saver::Failure>& failure) {
          told_.set_value(failure ? std::string(failure->error.what()) : std::to_string(version));
        });
    saver_->save(checkpoint_info(make_run_spec(config_, workload_->data), *workload_, kVersion));
  }

  // Makes the checkpoint's file a pipe, and saves into it until it is full.
  void stall() {
    ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
    pipe_ = ::open(path().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ASSERT_GE(pipe_, 0);
    start();
    pollfd ready{pipe_, POLLIN, 0};
    ASSERT_EQ(::poll(&ready, 1, 20'000), 1);
  }
  // Reads the pipe to its end; then its writer is done.
  std::size_t drain() const {
    std::size_t total = 0;
    std::array<char, 65536> block;
    pollfd ready{pipe_, POLLIN, 0};
    while (::poll(&ready, 1, 20'000) == 1) {
      const ssize_t got = ::read(pipe_, block.data(), block.size());
      if (got <= 0) break;
      total += static_cast<std::size_t>(got);
    }
    ::close(pipe_);
    return total;
  }
  // Reads so much of the pipe.
  void take(std::size_t bytes) const {
    std::array<char, 65536> block;
    pollfd ready{pipe_, POLLIN, 0};
    while (bytes > 0) {
      ASSERT_EQ(::poll(&ready, 1, 20'000), 1);
      const ssize_t got = ::read(pipe_, block.data(), std::min(block.size(), bytes));
      ASSERT_GT(got, 0);
      bytes -= static_cast<std::size_t>(got);
    }
  }
  bool is_told() {
    return told_.get_future().wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }

  TempDir dir_;
  RunConfig config_ = synthetic();
  std::optional<Workload> workload_;
  Loop loop_;
  std::unique_ptr<PinnedServer> server_;
  std::unique_ptr<Listener> listener_;
  std::thread serving_;
  int pipe_ = -1;
  std::promise<std::string> told_;
  std::unique_ptr<Saver> saver_;
};

TEST_F(SaverTest, SavesWhatItReads) {
  start();
  EXPECT_EQ(told_.get_future().get(), std::to_string(kVersion));
  EXPECT_EQ(CheckpointReader(path()).info().version, kVersion);
  EXPECT_GT(saver_->beat().bytes_in(), workload_->chunks.floats() * sizeof(float));
  saver_->finish(kNever);
}

// They may have much to apply.
TEST_F(SaverTest, WaitsForServersThatAnswerTheHelloLate) {
  config_.deadline = std::chrono::milliseconds(20);
  const BusyLoop busy(loop_);
  start();
  auto told = told_.get_future();
  EXPECT_EQ(told.wait_for(10 * config_.deadline), std::future_status::timeout);
  EXPECT_EQ(saver_->beat().activities(0).kind(), wire::Activity::WAITING);
  busy.release();
  EXPECT_EQ(told.get(), std::to_string(kVersion));
}

TEST_F(SaverTest, NoLongerWaitsForAHelloWhenItIsToEnd) {
  const BusyLoop busy(loop_);
  start();
  while (saver_->beat().activities(0).kind() != wire::Activity::WAITING) std::this_thread::yield();
  saver_->finish(kNever);
  saver_.reset();
  EXPECT_FALSE(is_told());
  busy.release();
}

TEST_F(SaverTest, IsNotWaitedForWhenItsDiskHangs) {
  stall();
  EXPECT_EQ(saver_->unfinished(), std::vector{kVersion});
  EXPECT_EQ(saver_->beat().activities(0).doing(), "writing the checkpoint of version 10");
  saver_->give_up();
  saver_->finish(kNever);
  saver_.reset();
  EXPECT_FALSE(is_told());
  drain();
}

TEST_F(SaverTest, IsNotWaitedForWhenNothingIsWrittenAtTheEnd) {
  stall();
  saver_->finish(std::chrono::milliseconds(20));
  saver_.reset();
  EXPECT_FALSE(is_told());
  drain();
}

TEST_F(SaverTest, IsReplacedAtOnceWhateverItDoes) {
  stall();
  saver_.reset();
  EXPECT_FALSE(is_told());
  drain();
}

TEST_F(SaverTest, FinishesWhatItWrites) {
  stall();
  auto drained = std::async(std::launch::async, [this] { return drain(); });
  saver_->finish(kNever);
  saver_.reset();
  EXPECT_GT(drained.get(), workload_->chunks.floats() * sizeof(float));
}

// Whose checkpoint is of several blocks; each that is begun counts.
class SlowDisk : public SaverTest {
 protected:
  SlowDisk() : SaverTest(100000) {}
};

TEST_F(SlowDisk, IsWaitedForAsLongAsItGetsOnAndThatIsTold) {
  constexpr std::size_t kMoreThanABlock = std::size_t{3} << 19;
  ASSERT_GT(workload_->chunks.floats() * sizeof(float), 2 * kMoreThanABlock);
  stall();
  int told = 0;
  std::size_t rest = 0;
  saver_->finish(std::chrono::milliseconds(10), [&] {
    ++told;
    if (told < 3) take(kMoreThanABlock);
    if (told == 3) rest = drain();
  });
  EXPECT_GE(told, 3);
  EXPECT_GT(rest + 2 * kMoreThanABlock, workload_->chunks.floats() * sizeof(float));
}

TEST_F(SaverTest, ThatWritesNothingTellsNothing) {
  start();
  EXPECT_EQ(told_.get_future().get(), std::to_string(kVersion));
  bool told = false;
  while (!saver_->unfinished().empty()) std::this_thread::yield();
  saver_->finish(kNever, [&] { told = true; });
  EXPECT_FALSE(told);
}

}  // namespace
}  // namespace paceline
