#include "data/sparse/numbers.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/random.h"

namespace paceline {
namespace {

std::string digits(Random& random, std::uint64_t count) {
  std::string text;
  for (std::uint64_t i = 0; i < count; ++i) text += static_cast<char>('0' + random.below(10));
  return text;
}

// The same bits as strtof's, whichever way a number is read.
TEST(Numbers, AreThoseThatAreWritten) {
  Random random(5);
  for (int i = 0; i < 20'000; ++i) {
    std::string text = digits(random, random.below(9));
    if (text.empty() || random.below(2) == 0) text += "." + digits(random, random.below(5));
    if (text == ".") continue;
    const float expected = static_cast<float>(std::strtod(text.c_str(), nullptr));
    float number = -1;
    Cursor cursor(text);
    ASSERT_TRUE(read_number(cursor, number)) << text;
    EXPECT_TRUE(cursor.over()) << text;
    EXPECT_EQ(number, expected) << text;
    if (text.size() > 8) continue;
    const std::string line = "xxxxxxx:" + text;
    number = -1;
    ASSERT_TRUE(read_short(line.data() + line.size(), text.size(), number)) << text;
    EXPECT_EQ(number, expected) << text;
  }
}

TEST(Numbers, ThatAreShortMayEndOrBeginWithAPoint) {
  float number = 0;
  for (const auto& [text, expected] :
       {std::pair("1234567.", 1234567.0F), std::pair(".1234567", 0.1234567F),
        std::pair("00000001", 1.0F), std::pair("12345678", 12345678.0F), std::pair("7", 7.0F)}) {
    const std::string line = std::string("99999999") + text;
    ASSERT_TRUE(read_short(line.data() + line.size(), std::strlen(text), number)) << text;
    EXPECT_EQ(number, expected);
  }
}

TEST(Numbers, ThatAreNoneAreNotReadAsShortOnes) {
  float number = 0;
  std::uint64_t index = 0;
  for (const std::string text : {".", "..", "1.2.3", "1e3", "-1", "+1", "1,5", "0x1", "1\xB0",
                                 "\xFF.5", "/", ":", "nan", "1 2"}) {
    const std::string line = "11111111" + text;
    EXPECT_FALSE(read_short(line.data() + line.size(), text.size(), number)) << text;
    EXPECT_FALSE(read_short_index(line.data() + line.size(), text.size(), index)) << text;
  }
}

TEST(Numbers, IndicesHaveEveryNumberOfDigits) {
  Random random(9);
  for (std::size_t count = 1; count <= 20; ++count) {
    const std::string text = digits(random, count);
    std::uint64_t index = 0;
    Cursor cursor(text);
    ASSERT_EQ(read_index(cursor, index), count <= 18) << text;
    if (count > 18) continue;
    EXPECT_EQ(index, std::strtoull(text.c_str(), nullptr, 10)) << text;
    if (count > 8) continue;
    const std::string line = "99999999" + text;
    ASSERT_TRUE(read_short_index(line.data() + line.size(), count, index));
    EXPECT_EQ(index, std::strtoull(text.c_str(), nullptr, 10)) << text;
  }
}

}  // namespace
}  // namespace paceline
