#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "net/socket.h"

namespace paceline {
namespace {

TEST(Address, TextIsWhatWasParsed) {
  for (const char* text : {"tcp:127.0.0.1:4242", "tcp:node-3.cluster:0", "tcp:[::1]:65535",
                           "unix:/tmp/run/server0.sock", "unix:relative.sock", "unix:@name:1"}) {
    EXPECT_EQ(Address::parse(text).text(), text);
  }
}

TEST(Address, PartsAreFound) {
  const Address tcp = Address::parse("tcp:[::1]:4242");
  EXPECT_EQ(tcp.kind, Address::Kind::kTcp);
  EXPECT_EQ(tcp.host, "::1");
  EXPECT_EQ(tcp.port, 4242);
  const Address file = Address::parse("unix:/a:b");
  EXPECT_EQ(file.kind, Address::Kind::kUnix);
  EXPECT_EQ(file.host, "/a:b");
}

TEST(Address, MistakesAreConfigErrorsThatShowTheForm) {
  for (const char* text : {"", "tcp:", "tcp:host", "tcp:host:", "tcp:host:70000", "tcp:host:4x",
                           "tcp::4242", "tcp:::1:4242", "unix:", "/tmp/x.sock", "udp:host:1"}) {
    try {
      Address::parse(text);
      ADD_FAILURE() << "accepted '" << text << "'";
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("write tcp:HOST:PORT or unix:PATH"));
    }
  }
}

}  // namespace
}  // namespace paceline
