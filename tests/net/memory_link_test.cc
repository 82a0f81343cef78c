// The in-memory link between two threads; what all links promise is in link_test.cc.
#include "net/memory_link.h"

#include <atomic>
#include <thread>

#include "net/link_harness.h"

namespace paceline {
namespace {

// An end with a thread of its own, for as long as the object lives.
struct Side {
  Loop loop;
  Recorder recorder;
};

TEST(MemoryLink, EndsOfDifferentThreadsExchangeMessages) {
  constexpr std::size_t kMessages = 2000;
  Side here;
  Side there;
  LinkOptions options;
  options.window = 4000;
  std::tie(here.recorder.link, there.recorder.link) = connect_in_memory(
      {&here.loop, &here.recorder, "there"}, {&there.loop, &there.recorder, "here"}, options);
  there.recorder.on_received = [&](Link& link) {
    link.send(application_header(), "echo", payload_of(there.recorder.messages.back().payload));
  };
  std::thread thread([&] { there.loop.run(); });
  for (std::size_t i = 0; i < kMessages; ++i) {
    here.recorder.link->send(application_header(), "", payload_of(std::to_string(i)));
  }
  const bool done = here.loop.run_until([&] { return here.recorder.messages.size() == kMessages; },
                                        Clock::now() + std::chrono::seconds(20));
  there.loop.stop();
  thread.join();
  ASSERT_TRUE(done);
  for (std::size_t i = 0; i < kMessages; ++i) {
    ASSERT_EQ(here.recorder.messages[i].payload, std::to_string(i));
  }
}

TEST(MemoryLink, OwnerOfAPayloadIsLetGoByTheThreadThatSentIt) {
  Side here;
  Side there;
  std::tie(here.recorder.link, there.recorder.link) = connect_in_memory(
      {&here.loop, &here.recorder, "there"}, {&there.loop, &there.recorder, "here"}, {});
  std::thread thread([&] { there.loop.run(); });
  const std::string bytes = "x";
  std::thread::id released_by;
  {
    const std::shared_ptr<const void> owner(
        &bytes, [&](const void*) { released_by = std::this_thread::get_id(); });
    here.recorder.link->send(application_header(), "", {std::as_bytes(std::span(bytes)), owner});
  }
  const bool done = here.loop.run_until([&] { return released_by != std::thread::id(); },
                                        Clock::now() + std::chrono::seconds(20));
  there.loop.stop();
  thread.join();
  ASSERT_TRUE(done);
  EXPECT_EQ(released_by, std::this_thread::get_id());
}

TEST(MemoryLink, SenderMayCloseAndFreeItsMemoryWhileThePeerReceives) {
  for (int round = 0; round < 50; ++round) {
    Side here;
    Side there;
    std::tie(here.recorder.link, there.recorder.link) = connect_in_memory(
        {&here.loop, &here.recorder, "there"}, {&there.loop, &there.recorder, "here"}, {});
    std::atomic<int> seen{0};
    there.recorder.on_received = [&](Link&) { ++seen; };
    std::thread thread([&] {
      there.loop.run_until([&] { return !there.recorder.reasons.empty(); },
                           Clock::now() + std::chrono::seconds(20));
    });
    {
      const std::string bytes(10'000, 'x');
      for (int i = 0; i < 100; ++i) {
        here.recorder.link->send(application_header(), "",
                                 {std::as_bytes(std::span(bytes)), nullptr});
      }
      while (seen < round) std::this_thread::yield();
      here.recorder.link->close("leaving");
    }
    thread.join();
    EXPECT_EQ(there.recorder.reasons.size(), 1u);
    for (const auto& message : there.recorder.messages) {
      ASSERT_EQ(message.payload, std::string(10'000, 'x'));
    }
  }
}

}  // namespace
}  // namespace paceline
