#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "net/link_harness.h"
#include "net/raw_peer.h"

namespace paceline {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct ListenerTest : testing::Test {
  Listener listen(const std::string& address, bool insecure = false) {
    return Listener(
        loop, Address::parse(address), {}, [](std::shared_ptr<Link>) { return nullptr; }, insecure);
  }
  std::string failure(const std::string& address) {
    try {
      listen(address);
    } catch (const CommError& error) {
      return error.what();
    }
    return "listens";
  }

  TempDir directory;
  Loop loop;
};

TEST_F(ListenerTest, PortZeroBecomesTheChosenPort) {
  const Listener listener = listen("tcp:127.0.0.1:0");
  EXPECT_NE(listener.address().port, 0);
  EXPECT_EQ(listener.address().host, "127.0.0.1");
}

TEST_F(ListenerTest, PortInUseIsNamedWithWhatToTry) {
  const Listener first = listen("tcp:127.0.0.1:0");
  EXPECT_THAT(failure(first.address().text()),
              AllOf(HasSubstr(fmt::format("port {} is in use", first.address().port)),
                    HasSubstr("0 for any free")));
}

TEST_F(ListenerTest, AddressesOtherHostsCanReachNeedToBeAllowed) {
  EXPECT_THAT(failure("tcp:0.0.0.0:0"),
              AllOf(HasSubstr("neither encrypted nor authenticated"), HasSubstr("insecure")));
  EXPECT_NE(listen("tcp:0.0.0.0:0", /*insecure=*/true).address().port, 0);
}

TEST_F(ListenerTest, NamesOfThisHostAreLoopback) {
  EXPECT_EQ(listen("tcp:localhost:0").address().host, "localhost");
}

TEST_F(ListenerTest, UnknownHostIsNamed) {
  EXPECT_THAT(failure("tcp:no-such-host.invalid:0"), HasSubstr("no-such-host.invalid"));
}

TEST_F(ListenerTest, PathThatIsTooLongIsExplained) {
  EXPECT_THAT(failure("unix:/tmp/" + std::string(200, 'x')),
              AllOf(HasSubstr("at most 107 bytes"), HasSubstr("shorter")));
}

TEST_F(ListenerTest, PathThatCannotBeBoundIsNamed) {
  EXPECT_THAT(failure("unix:" + directory.file("missing/x.sock")),
              AllOf(HasSubstr("missing/x.sock"), HasSubstr("No such file")));
}

TEST_F(ListenerTest, SocketFileIsRemovedWithTheListener) {
  const std::string path = directory.file("x.sock");
  {
    const Listener listener = listen("unix:" + path);
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(ListenerTest, PathOfALivingListenerIsNotTakenOver) {
  const Listener first = listen("unix:" + directory.file("x.sock"));
  EXPECT_THAT(failure(first.address().text()), HasSubstr("another process listens there"));
}

TEST_F(ListenerTest, SocketFileOfADeadProcessIsReplaced) {
  const std::string path = directory.file("x.sock");
  const Endpoint endpoint = resolve(Address::parse("unix:" + path)).front();
  {
    const Descriptor dead = open_socket(endpoint);
    ASSERT_EQ(::bind(dead.get(), endpoint.get(), endpoint.size), 0);
  }
  ASSERT_TRUE(std::filesystem::exists(path));
  EXPECT_EQ(failure("unix:" + path), "listens");
}

TEST_F(ListenerTest, FileThatIsNoSocketIsLeftAlone) {
  const std::string path = directory.file("precious");
  std::filesystem::create_directory(path);
  EXPECT_THAT(failure("unix:" + path), HasSubstr("precious"));
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST_F(ListenerTest, ConnectionNobodyKeepsIsClosed) {
  const Listener listener = listen("unix:" + directory.file("x.sock"));
  Recorder client;
  const TimePoint limit = Clock::now() + std::chrono::seconds(20);
  client.link = connect(loop, listener.address(), {}, client, limit);
  EXPECT_TRUE(loop.run_until([&] { return !client.reasons.empty(); }, limit));
}

TEST_F(ListenerTest, LinksLiveOnWithoutTheListener) {
  Recorder client;
  Recorder server;
  std::optional<Listener> listener;
  listener.emplace(loop, Address::parse("tcp:127.0.0.1:0"), LinkOptions{},
                   [&](std::shared_ptr<Link> link) {
                     server.link = std::move(link);
                     return &server;
                   });
  const TimePoint limit = Clock::now() + std::chrono::seconds(20);
  client.link = connect(loop, listener->address(), {}, client, limit);
  ASSERT_TRUE(loop.run_until([&] { return server.link != nullptr; }, limit));
  listener.reset();
  client.link->send(application_header(), "hello");
  EXPECT_TRUE(loop.run_until([&] { return server.messages.size() == 1; }, limit));
}

TEST_F(ListenerTest, MoreLinksThanArePolledDirectlyAllWork) {
  constexpr std::size_t kLinks = 40;
  std::vector<std::shared_ptr<Link>> accepted;
  Recorder server;
  server.on_received = [](Link& link) { link.send(application_header(), "answer"); };
  const Listener listener(loop, Address::parse("unix:" + directory.file("x.sock")), {},
                          [&](std::shared_ptr<Link> link) {
                            accepted.push_back(std::move(link));
                            return &server;
                          });
  std::vector<std::unique_ptr<Recorder>> clients;
  const TimePoint limit = Clock::now() + std::chrono::seconds(20);
  std::size_t finished = 0;
  for (std::size_t i = 0; i < kLinks; ++i) {
    auto& client = *clients.emplace_back(std::make_unique<Recorder>());
    client.link = connect(loop, listener.address(), {}, client, limit);
    client.on_received = [&](Link& link) {
      if (client.messages.size() < 20) {
        link.send(application_header(), "ask");
      } else {
        ++finished;
      }
    };
    client.link->send(application_header(), "ask");
  }
  EXPECT_TRUE(loop.run_until([&] { return finished == kLinks; }, limit));
}

}  // namespace
}  // namespace paceline
