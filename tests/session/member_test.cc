#include "session/member.h"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "base/temp_dir.h"
#include "net/socket.h"
#include "session/failure.h"
#include "session/member_line.h"

namespace paceline {
namespace {

// A chief of one member, which it takes in and leaves at its first heartbeat.
class BriefChief {
 public:
  explicit BriefChief(const std::string& address) {
    events_.entered = [](MemberLine& line, const wire::Register&) {
      line.incarnation = 1;
      wire::Registered reply;
      reply.set_incarnation(1);
      FrameHeader header;
      header.type = wire::REGISTERED;
      line.link().send(header, reply.SerializeAsString());
    };
    events_.told = [](MemberLine& line, wire::Type, std::string_view) { line.link().close("bye"); };
    events_.closed = [](MemberLine&, const Error&) {};
    listener_.emplace(loop_, Address::parse(address), LinkOptions(),
                      [this](std::shared_ptr<Link> link) {
                        line_ = std::make_shared<MemberLine>(std::move(link), "digest", events_);
                        return line_.get();
                      });
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~BriefChief() {
    loop_.stop();
    thread_.join();
  }

 private:
  Loop loop_{Duration::zero()};
  MemberLine::Events events_;
  std::shared_ptr<MemberLine> line_;
  std::optional<Listener> listener_;
  std::thread thread_;
};

[[noreturn]] void hang_without_chief(const std::string& address, int failure_fd) {
  const BriefChief chief(address);
  ChiefLineOptions options;
  options.chief = address;
  options.self = {0, "digest", "worker", "worker0"};
  options.failure_fd = failure_fd;
  const Member member(options, {[](wire::Type, std::string_view) { return false; },
                                [] { return wire::Heartbeat(); }, [](const CommError&) {}});
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

}  // namespace
}  // namespace paceline
