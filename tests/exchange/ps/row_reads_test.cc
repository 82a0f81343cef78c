#include "exchange/ps/row_reads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exchange/ps/scripted_worker.h"

namespace paceline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr Share kFirst{0, {0, 2}};
constexpr Share kSecond{1, {0, 2}};
constexpr Share kThird{2, {0, 2}};
constexpr Share kFourth{3, {0, 2}};

Lines said(const RowReads::Pulls& pulls) {
  Lines lines;
  for (const wire::Pull& pull : pulls) {
    std::string line = fmt::format("{} of {}", pull.ticket(), pull.chunk());
    if (!pull.latest()) line += fmt::format(" version {}", pull.version());
    if (pull.has_clock()) line += fmt::format(" clock {}", pull.clock());
    for (const std::uint64_t ticket : pull.forget()) line += fmt::format(" forget {}", ticket);
    lines.push_back(line);
  }
  return lines;
}

struct Reader {
  explicit Reader(Mode mode, bool ahead = true, std::uint32_t servers = 2)
      : worker(options(mode, servers)), reads({mode, servers, ahead}, worker.core) {}

  static WorkerCore::Options options(Mode mode, std::uint32_t servers) {
    WorkerCore::Options options = ScriptedWorker::options(mode);
    options.chunks = servers;
    options.rows = true;
    return options;
  }

  Lines expect(const Share& share) { return said(reads.expect(share)); }
  Lines arrived(RowReads::Ticket ticket, std::uint32_t server, std::uint64_t version,
                std::optional<std::uint64_t> clock = {}) {
    worker.core.params(server, version, clock);
    return said(reads.arrived(ticket, server));
  }
  Lines finish(bool pushed = true) { return said(reads.finish(pushed)); }

  ScriptedWorker worker;
  RowReads reads;
};

TEST(RowReads, AskEveryServerForTheVersionOfTheStep) {
  Reader reader(Mode::kSync);
  EXPECT_THAT(reader.expect(kSecond), ElementsAre("1 of 0 version 1", "1 of 1 version 1"));
  EXPECT_EQ(reader.reads.current(), 1);
  EXPECT_EQ(reader.reads.ticket_of(kSecond), 1);
  EXPECT_THAT(reader.reads.owing(), ElementsAre(0, 1));
  EXPECT_FALSE(reader.reads.complete());
  reader.arrived(1, 1, 1);
  EXPECT_THAT(reader.reads.owing(), ElementsAre(0));
  EXPECT_FALSE(reader.reads.awaits(1, 1));
  reader.arrived(1, 0, 1);
  EXPECT_TRUE(reader.reads.complete());
}

TEST(RowReads, GoAheadOfTheShareThatIsComputed) {
  Reader reader(Mode::kSync);
  reader.expect(kFirst);
  EXPECT_THAT(reader.expect(kSecond), ElementsAre("2 of 0 version 1", "2 of 1 version 1"));
  EXPECT_EQ(reader.reads.current(), 1);
  EXPECT_THAT(reader.finish(), IsEmpty());
  EXPECT_EQ(reader.reads.current(), 0);
  EXPECT_FALSE(reader.reads.keeps(1));
  EXPECT_THAT(reader.expect(kSecond), IsEmpty());  // under way
  EXPECT_EQ(reader.reads.current(), 2);
}

TEST(RowReads, ThatMayNotGoAheadWaitForThePush) {
  Reader reader(Mode::kSsp, false, 1);
  EXPECT_THAT(reader.expect(kFirst), ElementsAre("1 of 0"));
  reader.arrived(1, 0, 0, 4);
  EXPECT_THAT(reader.expect(kSecond), IsEmpty());
  EXPECT_THAT(reader.finish(), ElementsAre("2 of 0 clock 4"));
}

TEST(RowReads, OfAWorkerThatJoinsAskTheFirstServerForItsClock) {
  Reader reader(Mode::kAsync, true, 3);
  EXPECT_THAT(reader.expect(kFirst), ElementsAre("1 of 0"));
  EXPECT_THAT(reader.expect(kSecond), ElementsAre("2 of 0"));
  EXPECT_THAT(reader.arrived(1, 0, 0, 7),
              ElementsAre("1 of 1 clock 7", "1 of 2 clock 7", "2 of 1 clock 7", "2 of 2 clock 7"));
  EXPECT_THAT(reader.arrived(2, 0, 0), IsEmpty());
}

TEST(RowReads, KeepThatOfAShareThatWasSetAside) {
  Reader reader(Mode::kSync);
  reader.expect(kSecond);
  reader.arrived(1, 0, 1);
  reader.reads.set_aside();
  EXPECT_THAT(reader.expect(kFirst), ElementsAre("2 of 0 version 0", "2 of 1 version 0"));
  EXPECT_EQ(reader.reads.current(), 2);
  reader.finish();
  EXPECT_THAT(reader.expect(kSecond), IsEmpty());
  EXPECT_THAT(reader.reads.owing(), ElementsAre(1));  // the other was there already
}

TEST(RowReads, DropTheOldestAndTellServersToForgetIt) {
  Reader reader(Mode::kSync);
  reader.expect(kFourth);
  reader.reads.set_aside();
  reader.expect(kFirst);
  reader.expect(kSecond);
  reader.finish();
  reader.expect(kSecond);
  EXPECT_THAT(reader.expect(kThird), ElementsAre("4 of 0 version 2", "4 of 1 version 2"));
  EXPECT_TRUE(reader.reads.keeps(1));
  reader.finish();
  reader.expect(kThird);
  reader.expect({9, {0, 1}});
  EXPECT_THAT(reader.expect({8, {0, 1}}),
              ElementsAre("6 of 0 version 8 forget 1", "6 of 1 version 8 forget 1"));
  EXPECT_FALSE(reader.reads.keeps(1));
  EXPECT_TRUE(reader.reads.keeps(4));
}

TEST(RowReads, OfAShareThatIsNotPushedAreForgotten) {
  Reader reader(Mode::kSync);
  reader.expect(kFirst);
  reader.finish(false);
  EXPECT_THAT(reader.expect(kSecond),
              ElementsAre("2 of 0 version 1 forget 1", "2 of 1 version 1 forget 1"));
}

TEST(RowReads, OfStepsThatOthersHaveDoneAreForgotten) {
  Reader reader(Mode::kSync);
  reader.expect(kFirst);
  reader.expect(kSecond);
  reader.reads.gone(2);
  EXPECT_TRUE(reader.reads.keeps(1));  // still in use
  EXPECT_FALSE(reader.reads.keeps(2));
  EXPECT_THAT(reader.expect(kThird),
              ElementsAre("3 of 0 version 2 forget 2", "3 of 1 version 2 forget 2"));
}

TEST(RowReads, IgnoreRowsOfAReadThatWasDropped) {
  Reader reader(Mode::kSync);
  reader.expect(kFirst);
  reader.finish();
  EXPECT_FALSE(reader.reads.awaits(1, 0));
  EXPECT_THAT(reader.arrived(1, 0, 0), IsEmpty());
}

}  // namespace
}  // namespace paceline
