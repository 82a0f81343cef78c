#include "session/failure.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/temp_dir.h"

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

TEST(FailureLine, IsReadAsItWasWritten) {
  const std::string line = failure_line(lost_server());
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  ASSERT_TRUE(read_failure_line(line));
  expect_same(*read_failure_line(line), lost_server());
  expect_same(*read_failure_line(line + failure_line(Error("a second"))), lost_server());
}

TEST(FailureLine, ReplacesWhatIsNoText) {
  EXPECT_STREQ(read_failure_line(failure_line(Error("caf\xe9.csv")))->what(), "caf\uFFFD.csv");
}

TEST(FailureLine, IsNothingWithoutItsEnd) {
  const std::string line = failure_line(lost_server());
  for (std::size_t end = 0; end < line.size(); ++end) {
    EXPECT_FALSE(read_failure_line(line.substr(0, end))) << end;
  }
}

TEST(FailureLine, IsNothingWhenItIsSomethingElse) {
  for (const char* text : {"\n", "{}\n", "[]\n", "[1]\n", "[{}]\n",
                           "[{\"sentence\":1,\"code\":1}]\n", "[{\"sentence\":\"x\"}]\n",
                           "[{\"sentence\":\"x\",\"code\":\"y\"}]\n", "paceline: words\n"}) {
    EXPECT_FALSE(read_failure_line(text)) << text;
  }
}

TEST(FailureLine, IsCutWhenItIsTooDeep) {
  std::string line = "[";
  for (int i = 0; i < 1000; ++i) line += fmt::format(R"({{"sentence":"{}","code":3}},)", i);
  line.back() = ']';
  const auto error = read_failure_line(line + "\n");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->reasons().size(), Error::kMostReasons);
  EXPECT_FALSE(read_failure_line(std::string(1 << 20, '[') + "\n"));
}

TEST(FailureLine, IsToldToADescriptorIfThereIsOne) {
  const TempDir dir;
  const auto file = dir.path() / "failure";
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_GE(fd, 0);
  tell_failure(fd, "a line\n");
  ::close(fd);
  EXPECT_EQ(read_text(file), "a line\n");
  tell_failure(fd, "not there any more\n");
  tell_failure(-1, "nowhere\n");
}

}  // namespace
}  // namespace paceline
