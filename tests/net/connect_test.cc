#include <unistd.h>

#include <fstream>
#include <thread>

#include "base/error.h"
#include "net/link_harness.h"

namespace paceline {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;

std::string failure(const Address& address, Duration patience) {
  Loop loop;
  Recorder handler;
  try {
    connect(loop, address, {}, handler, Clock::now() + patience);
  } catch (const CommError& error) {
    return error.what();
  }
  return "connected";
}

// Whether a thread of this process waits for something.
bool sleeps(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name = line.rfind(") ");  // its state comes behind
  return name != std::string::npos && line[name + 2] == 'S';
}

TEST(Connect, GivesUpAtTheDeadlineAndSaysWhatWasTried) {
  const TempDir directory;
  const std::string path = directory.file("nobody.sock");
  const TimePoint start = Clock::now();
  EXPECT_THAT(failure(Address::parse("unix:" + path), milliseconds(30)),
              AllOf(HasSubstr(path), HasSubstr("tried for"), HasSubstr("No such file")));
  EXPECT_GE(Clock::now() - start, milliseconds(30));
}

TEST(Connect, PortWhereNobodyListensIsRefused) {
  Loop loop;
  Address free;
  {
    const Listener listener(loop, Address::parse("tcp:127.0.0.1:0"), {},
                            [](std::shared_ptr<Link>) { return nullptr; });
    free = listener.address();
  }
  EXPECT_THAT(failure(free, milliseconds(5)),
              AllOf(HasSubstr(free.text()), HasSubstr("Connection refused")));
}

TEST(Connect, TriesAgainUntilSomebodyListens) {
  const TempDir directory;
  const Address address = Address::parse("unix:" + directory.file("late.sock"));
  Loop server_loop;
  Recorder server;
  const pid_t connecting = ::gettid();
  std::thread late([&] {
    while (!sleeps(connecting)) std::this_thread::yield();  // between two tries
    const Listener listener(server_loop, address, {}, [&](std::shared_ptr<Link> link) {
      server.link = std::move(link);
      return &server;
    });
    server_loop.run_until([&] { return !server.messages.empty(); },
                          Clock::now() + std::chrono::seconds(20));
  });
  Loop loop;
  Recorder client;
  client.link = connect(loop, address, {}, client, Clock::now() + std::chrono::seconds(20));
  client.link->send(application_header(), "hello");
  EXPECT_EQ(client.link->peer(), directory.file("late.sock"));
  late.join();
  EXPECT_EQ(server.messages.size(), 1u);
}

TEST(Connect, HopelessAddressFailsAtOnce) {
  EXPECT_THAT(failure(Address::parse("unix:/dev/null/x"), std::chrono::hours(1)),
              HasSubstr("Not a directory"));
}

TEST(Connect, BothEndsNameTheirPeer) {
  Loop loop;
  Recorder client;
  Recorder server;
  const Listener listener(loop, Address::parse("tcp:127.0.0.1:0"), {},
                          [&](std::shared_ptr<Link> link) {
                            server.link = std::move(link);
                            return &server;
                          });
  const TimePoint limit = Clock::now() + std::chrono::seconds(20);
  client.link = connect(loop, listener.address(), {}, client, limit);
  ASSERT_TRUE(loop.run_until([&] { return server.link != nullptr; }, limit));
  EXPECT_EQ("tcp:" + client.link->peer(), listener.address().text());
  EXPECT_THAT(server.link->peer(), HasSubstr("127.0.0.1:"));
}

TEST(Connect, NeighboursTakeTheShortCutIfBothWantIt) {
  for (const bool listener_wants : {false, true}) {
    for (const bool client_wants : {false, true}) {
      Loop loop;
      Recorder client;
      Recorder server;
      LinkOptions options;
      options.short_cut = listener_wants;
      const Listener listener(loop, Address::parse("tcp:127.0.0.1:0"), options,
                              [&](std::shared_ptr<Link> link) {
                                server.link = std::move(link);
                                return &server;
                              });
      const TimePoint limit = Clock::now() + std::chrono::seconds(20);
      options.short_cut = client_wants;
      client.link = connect(loop, listener.address(), options, client, limit);
      client.link->send(application_header(), "hello");
      ASSERT_TRUE(loop.run_until([&] { return server.messages.size() == 1; }, limit));
      EXPECT_EQ("tcp:" + client.link->peer(), listener.address().text());
      const bool near = server.link->peer() == neighbour_of(listener.address()).host;
      EXPECT_EQ(near, listener_wants && client_wants);
    }
  }
}

TEST(Connect, AHostWithALongNameHasNoShortCut) {
  Loop loop;
  Recorder handler;
  LinkOptions options;
  options.short_cut = true;
  const Address far{Address::Kind::kTcp, std::string(120, 'x') + ".invalid", 4242};
  try {
    connect(loop, far, options, handler, Clock::now());
    FAIL();
  } catch (const CommError& error) {
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("Unix socket")));
  }
}

TEST(Connect, TheShortCutEndsWithItsListener) {
  Loop loop;
  LinkOptions options;
  options.short_cut = true;
  Address free;
  {
    const Listener listener(loop, Address::parse("tcp:127.0.0.1:0"), options,
                            [](std::shared_ptr<Link>) { return nullptr; });
    free = listener.address();
    EXPECT_THAT(failure(neighbour_of(free), milliseconds(5)), "connected");
  }
  EXPECT_THAT(failure(neighbour_of(free), milliseconds(5)), HasSubstr("Connection refused"));
}

}  // namespace
}  // namespace paceline
