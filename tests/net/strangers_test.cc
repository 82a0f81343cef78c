// Connections that nobody knows yet: for how long and how many, and of which users.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <optional>
#include <vector>

#include "net/link_harness.h"
#include "net/raw_peer.h"

namespace paceline {
namespace {

using testing::HasSubstr;

class Strangers : public testing::Test {
 protected:
  void listen(const LinkOptions& options, const std::string& address = "tcp:127.0.0.1:0") {
    listener_.emplace(loop_, Address::parse(address), options, [this](std::shared_ptr<Link> link) {
      Recorder& recorder = *accepted_.emplace_back(std::make_unique<Recorder>());
      recorder.link = std::move(link);
      return &recorder;
    });
  }
  // Asks every 10 ms: what `done` looks at may be no event of the loop.
  bool wait(const std::function<bool()>& done) {
    const TimePoint end = Clock::now() + std::chrono::seconds(20);
    while (!done()) {
      const TimePoint now = Clock::now();
      if (now >= end) return false;
      loop_.run_until(done, now + std::chrono::milliseconds(10));
    }
    return true;
  }

  Loop loop_;
  std::vector<std::unique_ptr<Recorder>> accepted_;
  std::optional<Listener> listener_;
};

TEST_F(Strangers, WhoSaysNothingIsClosed) {
  LinkOptions options;
  options.hello_limit = std::chrono::milliseconds(20);
  listen(options);
  const RawPeer silent(listener_->address());
  ASSERT_TRUE(wait([&] { return !accepted_.empty() && !accepted_[0]->reasons.empty(); }));
  EXPECT_THAT(accepted_[0]->reasons[0], HasSubstr("not sent a whole message in 20 ms"));
}

TEST_F(Strangers, HalfAMessageIsNoGreeting) {
  LinkOptions options;
  options.hello_limit = std::chrono::milliseconds(20);
  listen(options);
  RawPeer slow(listener_->address());
  slow.write(raw_frame(application_header(), "hello", "").substr(0, kHeaderBytes + 2));
  EXPECT_TRUE(wait([&] { return !accepted_.empty() && !accepted_[0]->reasons.empty(); }));
}

TEST_F(Strangers, WhoHasGreetedMayBeSilent) {
  LinkOptions options;
  options.hello_limit = std::chrono::milliseconds(20);
  listen(options);
  RawPeer known(listener_->address());
  known.write(raw_frame(application_header(), "hello", ""));
  ASSERT_TRUE(wait([&] { return !accepted_.empty() && !accepted_[0]->messages.empty(); }));
  const RawPeer silent(listener_->address());  // later, and gone first
  ASSERT_TRUE(wait([&] { return accepted_.size() == 2 && !accepted_[1]->reasons.empty(); }));
  EXPECT_TRUE(accepted_[0]->reasons.empty());
}

TEST_F(Strangers, MoreThanAllowedWaitUntilOneHasGreeted) {
  LinkOptions options;
  options.most_strangers = 2;
  listen(options);
  RawPeer first(listener_->address());
  const RawPeer second(listener_->address());
  RawPeer third(listener_->address());
  third.write(raw_frame(application_header(), "third", ""));
  ASSERT_TRUE(wait([&] { return accepted_.size() == 2; }));
  loop_.run_until([] { return false; }, Clock::now() + std::chrono::milliseconds(50));
  EXPECT_EQ(accepted_.size(), 2U);
  first.write(raw_frame(application_header(), "first", ""));
  ASSERT_TRUE(wait([&] { return accepted_.size() == 3 && !accepted_[2]->messages.empty(); }));
  EXPECT_EQ(accepted_[2]->messages[0].meta, "third");
}

// Another user of this host, for a test to be.
class StrangersAsRoot : public Strangers {
 protected:
  static constexpr uid_t kNobody = 65534;

  // Connects as that user and waits for the end of the stream; its exit code is 0 if it came.
  static pid_t visit(const Address& address) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    const Endpoint endpoint = resolve(address).front();
    if (::setuid(kNobody) != 0) ::_exit(2);
    const int socket = ::socket(endpoint.family(), SOCK_STREAM, 0);
    if (::connect(socket, endpoint.get(), endpoint.size) != 0) ::_exit(3);
    char byte = 0;
    ::_exit(::recv(socket, &byte, 1, 0) <= 0 ? 0 : 4);
  }

  // Listens there as that user until it is killed; returns when it does, or cannot.
  static pid_t occupy(const Address& address) {
    std::array<int, 2> listens{};
    EXPECT_EQ(::pipe(listens.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);  // should nobody kill it
      const Endpoint endpoint = resolve(address).front();
      if (::setuid(kNobody) != 0) ::_exit(2);
      const int socket = ::socket(endpoint.family(), SOCK_STREAM, 0);
      if (::bind(socket, endpoint.get(), endpoint.size) != 0 || ::listen(socket, 1) != 0)
        ::_exit(3);
      if (::write(listens[1], "", 1) != 1) ::_exit(4);
      while (true) ::pause();
    }
    ::close(listens[1]);
    char byte = 0;
    EXPECT_EQ(::read(listens[0], &byte, 1), 1) << "another user cannot listen there";
    ::close(listens[0]);
    return child;
  }
};

TEST_F(StrangersAsRoot, AnotherUserWhoHasTakenTheShortCutsNameIsPassedBy) {
  listen({});  // by TCP alone: the name is free
  const pid_t occupant = occupy(neighbour_of(listener_->address()));
  LinkOptions options;
  options.short_cut = true;
  Recorder client;
  client.link = connect(loop_, listener_->address(), options, client,
                        Clock::now() + std::chrono::seconds(20));
  client.link->send(application_header(), "hello");
  EXPECT_TRUE(wait([&] { return !accepted_.empty() && !accepted_[0]->messages.empty(); }));
  ::kill(occupant, SIGKILL);
  ::waitpid(occupant, nullptr, 0);
}

TEST_F(StrangersAsRoot, AnotherUserIsTurnedAwayFromTheShortCut) {
  LinkOptions options;
  options.short_cut = true;
  listen(options);
  const pid_t visitor = visit(neighbour_of(listener_->address()));
  int status = -1;
  bool gone = false;
  wait([&] {
    gone = gone || ::waitpid(visitor, &status, WNOHANG) == visitor;
    return gone || !accepted_.empty();
  });
  if (!gone) {
    ::kill(visitor, SIGKILL);
    ::waitpid(visitor, &status, 0);
  }
  EXPECT_TRUE(accepted_.empty());
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  // This process's own user still gets in.
  const RawPeer own(neighbour_of(listener_->address()));
  EXPECT_TRUE(wait([&] { return accepted_.size() == 1; }));
}

}  // namespace
}  // namespace paceline
