#include "session/member.h"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <functional>
#include <future>
#include <thread>

#include "base/signals.h"
#include "base/temp_dir.h"
#include "net/socket.h"
#include "session/failure.h"
#include "session/member_line.h"
#include "session/message.h"

namespace paceline {
namespace {

// A chief of one member, which it takes in and tells to begin.
class ChiefOfOne {
 public:
  using Told = std::function<void(MemberLine&, wire::Type, std::string_view meta)>;
  ChiefOfOne(const std::string& address, Told told) {
    events_.entered = [](MemberLine& line, const wire::Register&) {
      line.incarnation = 1;
      wire::Registered reply;
      reply.set_incarnation(1);
      FrameHeader header;
      header.type = wire::REGISTERED;
      line.link().send(header, reply.SerializeAsString());
      header.type = wire::BEGIN;
      line.link().send(header, wire::Begin().SerializeAsString());
    };
    events_.told = std::move(told);
    events_.closed = [this](MemberLine&, const Error& cause) { closed_.set_value(cause); };
    listener_.emplace(loop_, Address::parse(address), LinkOptions(),
                      [this](std::shared_ptr<Link> link) {
                        line_ = std::make_shared<MemberLine>(std::move(link), "digest", events_);
                        return line_.get();
                      });
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~ChiefOfOne() {
    loop_.stop();
    thread_.join();
  }
  // Waits until the member is gone; then, why.
  Error lost() { return closed_.get_future().get(); }

 private:
  Loop loop_{Duration::zero()};
  MemberLine::Events events_;
  std::promise<Error> closed_;
  std::shared_ptr<MemberLine> line_;
  std::optional<Listener> listener_;
  std::thread thread_;
};

ChiefLineOptions options_for(const std::string& address) {
  ChiefLineOptions options;
  options.chief = address;
  options.self = {0, "digest", "worker", "worker0"};
  return options;
}

Member::Events queue_all() {
  return {[](wire::Type, std::string_view) { return false; }, [] { return wire::Heartbeat(); },
          [](const CommError&) {}};
}

[[noreturn]] void hang_without_chief(const std::string& address, int failure_fd) {
  const ChiefOfOne chief(
      address, [](MemberLine& line, wire::Type, std::string_view) { line.link().close("bye"); });
  ChiefLineOptions options = options_for(address);
  options.failure_fd = failure_fd;
  const Member member(options, queue_all());
  while (true) ::pause();
}

TEST(MemberDeathTest, AProcessThatHangsWithoutItsChiefIsEndedAndTellsWhy) {
  const TempDir dir;
  const int fd = ::memfd_create("failure", MFD_CLOEXEC);
  ASSERT_GE(fd, 0);
  EXPECT_EXIT(hang_without_chief("unix:" + (dir.path() / "chief.sock").string(), fd),
              ::testing::ExitedWithCode(4), "paceline: the chief is gone: ");
  std::array<char, 4096> text{};
  const ssize_t read = ::pread(fd, text.data(), text.size(), 0);
  ::close(fd);
  ASSERT_GT(read, 0);
  const auto failure = read_failure_line({text.data(), static_cast<std::size_t>(read)});
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->what(), ::testing::StartsWith("the chief is gone: "));
  EXPECT_EQ(failure->code(), ExitCode::kCommunication);
}

struct Parting {
  Error thrown;        // by the worker
  Error told;          // to the chief
  bool stops = false;  // the run
};

// Of a worker whose training does this; it has what SIGTERM aborts it with.
Parting part_by(const std::function<void(std::future<Error> aborted)>& train) {
  const SignalsHeld held;  // for the worker's own watcher
  const TempDir dir;
  const std::string address = "unix:" + (dir.path() / "chief.sock").string();
  bool stops = false;
  ChiefOfOne chief(address, [&](MemberLine& line, wire::Type type, std::string_view meta) {
    if (type == wire::STOP) stops = true;
    if (type == wire::GOODBYE) line.goodbye = parsed<wire::Goodbye>(meta);
  });
  Member member(options_for(address), queue_all());
  std::promise<Error> aborted;
  try {
    WorkerLife life;
    life.train = [&](const wire::Begin&) { train(aborted.get_future()); };
    life.abort = [&](const Error& reason) { aborted.set_value(reason); };
    work_for_chief(member, life);
  } catch (const Error& error) {
    const Error told = chief.lost();
    return {error, told, stops};
  }
  return {Error("nothing was thrown"), Error("nothing was told")};
}

TEST(WorkForChief, AWorkerThatIsInterruptedSaysSoAndTheRunGoesOn) {
  const Parting parting = part_by([](std::future<Error> aborted) {
    ::kill(::getpid(), SIGTERM);
    throw Error(aborted.get());
  });
  for (const Error& error : {parting.thrown, parting.told}) {
    EXPECT_STREQ(error.what(), "interrupted");
    EXPECT_EQ(error.code(), ExitCode::kInterrupted);
  }
  EXPECT_FALSE(parting.stops);
}

TEST(WorkForChief, ThatAWorkersLineHasEndedIsNoReasonToEndTheRun) {
  const Parting parting = part_by([](std::future<Error>) {
    throw Error(CommError("the line has ended"), "the server is gone", ExitCode::kCommunication);
  });
  EXPECT_STREQ(parting.told.what(), "the server is gone: the line has ended");
  EXPECT_EQ(parting.told.reasons().size(), 2U);
  EXPECT_FALSE(parting.stops);
}

TEST(WorkForChief, WhatWouldHitAnyWorkerEndsTheRun) {
  const Parting parting =
      part_by([](std::future<Error>) { throw DataError("the data are damaged"); });
  EXPECT_EQ(parting.thrown.code(), ExitCode::kData);
  EXPECT_STREQ(parting.told.what(), "the data are damaged");
  EXPECT_TRUE(parting.stops);
}

}  // namespace
}  // namespace paceline
