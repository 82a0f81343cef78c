#include "session/hello.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/memory_link.h"

namespace paceline {
namespace {

using testing::HasSubstr;

// Whoever connects.
struct Greeter : LinkHandler {
  std::span<std::byte> place(Link&, const FrameHeader&, std::string_view) override { return {}; }
  void received(Link&, const FrameHeader& header, std::string_view meta,
                std::span<std::byte>) override {
    welcomed = header.type == kWelcomeType && meta.empty();
  }
  void closed(Link&, const std::string& why) override { reason = why; }
  bool welcomed = false;
  std::string reason;
};

struct Greeted : LinkHandler {
  std::span<std::byte> place(Link&, const FrameHeader&, std::string_view) override { return {}; }
  void received(Link& link, const FrameHeader&, std::string_view meta,
                std::span<std::byte>) override {
    hello = answer_hello(link, meta, "digest", "this server");
  }
  void closed(Link&, const std::string& why) override { reason = why; }
  std::optional<Hello> hello;
  std::string reason;
};

class AnswerToHello : public testing::Test {
 protected:
  // Until the greeter is answered.
  void say(const std::string& meta) {
    FrameHeader header;
    header.type = kHelloType;
    links_.first->send(header, meta);
    ASSERT_TRUE(loop_.run_until([&] { return greeter_.welcomed || !greeter_.reason.empty(); },
                                Clock::now() + std::chrono::seconds(20)));
  }

  Loop loop_;
  Greeter greeter_;
  Greeted greeted_;
  std::pair<std::shared_ptr<Link>, std::shared_ptr<Link>> links_ =
      connect_in_memory({&loop_, &greeter_, "server"}, {&loop_, &greeted_, "worker"}, {});
};

TEST(Hello, DecodesWhatItEncodes) {
  const Hello hello = decode_hello(encode_hello({"worker", "0123456789abcdef"}));
  EXPECT_EQ(hello.role, "worker");
  EXPECT_EQ(hello.config_digest, "0123456789abcdef");
}

TEST(Hello, SaysWhichBuildSpeaks) {
  EXPECT_EQ(build_id().size(), 40U);
  EXPECT_EQ(decode_hello(encode_hello({"worker", "digest"})).build, build_id());
}

TEST(Hello, GarbageIsAFrameError) {
  EXPECT_THROW(decode_hello("\xff\xff\xff\xff"), FrameError);
}

TEST(Hello, CutOffInTheMiddleIsAFrameError) {
  const std::string whole = encode_hello({"worker", "0123456789abcdef"});
  EXPECT_THROW(decode_hello(std::string_view(whole).substr(0, whole.size() - 3)), FrameError);
}

TEST_F(AnswerToHello, OfTheSameConfigurationIsAnEmptyWelcome) {
  say(encode_hello({"worker", "digest"}));
  EXPECT_TRUE(greeter_.welcomed);
  ASSERT_TRUE(greeted_.hello.has_value());
  EXPECT_EQ(greeted_.hello->role, "worker");
  EXPECT_EQ(greeted_.reason, "");
}

TEST_F(AnswerToHello, OfAnotherConfigurationIsASentenceWithAdvice) {
  say(encode_hello({"worker", "another"}));
  EXPECT_FALSE(greeter_.welcomed);
  EXPECT_FALSE(greeted_.hello.has_value());
  EXPECT_THAT(greeter_.reason,
              HasSubstr("this server was started with another configuration than the worker: start "
                        "all roles with the same config.toml"));
}

TEST_F(AnswerToHello, OfAnotherBuildIsASentenceWithAdvice) {
  say(encode_hello({"worker", "digest", "0123"}));
  EXPECT_FALSE(greeter_.welcomed);
  EXPECT_FALSE(greeted_.hello.has_value());
  EXPECT_THAT(greeter_.reason,
              HasSubstr("this server is another build of Paceline than the worker (" + build_id() +
                        " and 0123): start the same program on all hosts"));
}

TEST_F(AnswerToHello, ThatIsGarbageClosesTheLink) {
  say("\xff\xff\xff\xff");
  EXPECT_FALSE(greeter_.welcomed);
  EXPECT_FALSE(greeted_.hello.has_value());
}

}  // namespace
}  // namespace paceline
