#include "session/failure.h"

#include <gmock/gmock.h>

namespace paceline {
namespace {

Error lost_server() {
  CommError lost(DataError("cannot write x:\n\"No space left\""), "server0 is lost");
  lost.set_about("server0");
  lost.add_remark("; its parameters are gone");
  return lost;
}

void expect_same(const Error& one, const Error& other) {
  EXPECT_STREQ(one.what(), other.what());
  ASSERT_EQ(one.reasons().size(), other.reasons().size());
  for (std::size_t i = 0; i < one.reasons().size(); ++i) {
    EXPECT_EQ(one.reasons()[i].sentence, other.reasons()[i].sentence);
    EXPECT_EQ(one.reasons()[i].code, other.reasons()[i].code);
    EXPECT_EQ(one.reasons()[i].about, other.reasons()[i].about);
    EXPECT_EQ(one.reasons()[i].remark, other.reasons()[i].remark);
  }
}

TEST(Failure, ComesAsItWasSent) {
  expect_same(error_of(failure_of(lost_server())), lost_server());
  const ChiefWord word = stop_word(lost_server());
  EXPECT_EQ(word.type, wire::STOP);
  expect_same(error_of(parsed<wire::Stop>(word.meta).failure()), lost_server());
}

TEST(Failure, CarriesNamesOfAnyBytes) {
  const ChiefWord word = stop_word(DataError("cannot read {}", "caf\xe9.csv"));
  EXPECT_STREQ(error_of(parsed<wire::Stop>(word.meta).failure()).what(), "cannot read caf\xe9.csv");
}

TEST(Failure, IsCutWhenItIsTooDeepOrTooLong) {
  wire::Failure hostile;
  for (int i = 0; i < 1000; ++i) hostile.add_reasons()->set_sentence(fmt::format("{}", i));
  hostile.mutable_reasons(3)->set_remark(std::string(1 << 20, 'x'));
  const Error error = error_of(hostile);
  EXPECT_EQ(error.reasons().size(), Error::kMostReasons);
  EXPECT_EQ(error.reasons()[3].sentence, "3");
  EXPECT_LE(error.reasons()[3].remark.size(), Error::kMostBytes);
}

TEST(Failure, OfNoReasonsOrAnUnknownCodeIsOneAllTheSame) {
  EXPECT_STREQ(error_of({}).what(), "no reason was given");
  for (const std::uint32_t code : {0U, 1U, 77U, ~0U}) {
    wire::Failure failure;
    failure.add_reasons()->set_exit_code(code);
    EXPECT_EQ(error_of(failure).code(), ExitCode::kInternal) << code;
  }
}

}  // namespace
}  // namespace paceline
