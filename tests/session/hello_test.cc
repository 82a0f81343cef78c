#include "session/hello.h"

#include <gtest/gtest.h>

#include "net/frame.h"

namespace paceline {
namespace {

TEST(Hello, DecodesWhatItEncodes) {
  const Hello hello = decode_hello(encode_hello({"worker", "0123456789abcdef"}));
  EXPECT_EQ(hello.role, "worker");
  EXPECT_EQ(hello.config_digest, "0123456789abcdef");
}

TEST(Hello, GarbageIsAFrameError) {
  EXPECT_THROW(decode_hello("\xff\xff\xff\xff"), FrameError);
}

TEST(Hello, CutOffInTheMiddleIsAFrameError) {
  const std::string whole = encode_hello({"worker", "0123456789abcdef"});
  EXPECT_THROW(decode_hello(std::string_view(whole).substr(0, whole.size() - 3)), FrameError);
}

}  // namespace
}  // namespace paceline
