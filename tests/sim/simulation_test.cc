// Thousands of seeded clusters. A failure prints its seed.
#include "sim/simulation.h"

#include <gtest/gtest.h>

#include "base/seeds.h"

namespace paceline::sim {
namespace {

std::string describe(const Scenario& scenario, const Outcome& outcome) {
  std::string text = "seed " + std::to_string(scenario.seed) + " (" + outcome.ended + ")";
  for (const std::string& problem : outcome.problems) text += "\n  " + problem;
  return text.substr(0, 2000);
}

// A scenario that depends on the seed in all that may vary.
Scenario varied(std::uint64_t seed, Mode mode) {
  Scenario scenario;
  scenario.seed = seed;
  scenario.mode = mode;
  scenario.servers = 1 + static_cast<std::uint32_t>(seed % 3);
  scenario.workers = 1 + static_cast<std::uint32_t>(seed / 3 % 5);
  scenario.chunks_per_server = 1 + static_cast<std::uint32_t>(seed / 15 % 3);
  scenario.grid = {40 + seed % 60, 11 + seed % 13, 1 + seed % 4};
  scenario.whole_step = seed % 2 == 0;
  scenario.encoded = seed % 5 == 0;
  scenario.deterministic = mode == Mode::kSync && seed / 2 % 2 == 0;
  scenario.deaths = static_cast<std::uint32_t>(seed / 7) % scenario.workers;
  scenario.slow = seed % 4 == 0 ? 5 : 1;
  return scenario;
}

void expect_clean(const Scenario& scenario) {
  const Outcome outcome = simulate(scenario);
  EXPECT_TRUE(outcome.problems.empty()) << describe(scenario, outcome);
  EXPECT_EQ(outcome.ended, "") << describe(scenario, outcome);
}

TEST(Simulation, SyncRunsWithDeathsEndWithTheWordsOfOneProcess) {
  const Seeds some = seeds(2000);
  for (std::uint64_t seed = some.first; seed <= some.last && !HasFailure(); ++seed) {
    expect_clean(varied(seed, Mode::kSync));
  }
}

TEST(Simulation, SyncRunsSurviveFalseDeathsAndJoins) {
  const Seeds some = seeds(1000);
  for (std::uint64_t seed = some.first; seed <= some.last && !HasFailure(); ++seed) {
    Scenario scenario = varied(seed, Mode::kSync);
    scenario.workers = 3 + static_cast<std::uint32_t>(seed % 3);
    scenario.deaths = static_cast<std::uint32_t>(seed % 2);
    scenario.false_deaths = 1;
    scenario.joins = static_cast<std::uint32_t>(seed % 3);
    expect_clean(scenario);
  }
}

TEST(Simulation, AsyncRunsApplyEveryLeaseOnce) {
  const Seeds some = seeds(1000);
  for (std::uint64_t seed = some.first; seed <= some.last && !HasFailure(); ++seed) {
    Scenario scenario = varied(seed, Mode::kAsync);
    scenario.joins = static_cast<std::uint32_t>(seed % 2);
    expect_clean(scenario);
  }
}

TEST(Simulation, StalenessBoundHolds) {
  const Seeds some = seeds(400);
  for (std::uint64_t seed = some.first; seed <= some.last && !HasFailure(); ++seed) {
    Scenario scenario = varied(seed, Mode::kSsp);
    scenario.staleness = seed % 4;
    scenario.slow = 6;
    scenario.grid = {400, 8, 2};
    scenario.joins = static_cast<std::uint32_t>(seed % 2);
    expect_clean(scenario);
  }
}

// Tables, whose reads are apart from pushes and go ahead of them.
TEST(Simulation, RowsObeyTheSameRules) {
  const Seeds some = seeds(600);
  for (std::uint64_t seed = some.first; seed <= some.last && !HasFailure(); ++seed) {
    const Mode modes[] = {Mode::kSync, Mode::kAsync, Mode::kSsp};
    Scenario scenario = varied(seed / 3, modes[seed % 3]);
    scenario.rows = true;
    scenario.chunks_per_server = 1;
    scenario.staleness = seed / 3 % 4;
    if (scenario.mode == Mode::kSync && scenario.workers > 2) {
      scenario.deaths = static_cast<std::uint32_t>(seed % 2);
      scenario.false_deaths = 1;
    }
    if (scenario.mode == Mode::kSsp) scenario.slow = 6;
    if (scenario.mode != Mode::kSync) scenario.grid = {400, 8, 2};  // enough to have leases ahead
    scenario.joins = static_cast<std::uint32_t>(seed / 3 % 2);
    expect_clean(scenario);
  }
}

TEST(Simulation, StoppedRunsOfRowsGoOnWhereTheyWere) {
  std::uint64_t resumed = 0;
  const Seeds some = seeds(600);
  for (std::uint64_t seed = some.first; seed <= some.last && !HasFailure(); ++seed) {
    Scenario scenario = varied(seed, seed % 2 == 0 ? Mode::kSync : Mode::kAsync);
    scenario.rows = true;
    scenario.chunks_per_server = 1;
    scenario.stop_at = 0.05 + 0.002 * static_cast<double>(seed % 100);
    scenario.deaths = 0;
    const Outcome stopped = simulate(scenario);
    EXPECT_TRUE(stopped.problems.empty()) << describe(scenario, stopped);
    if (!stopped.interrupted) continue;
    scenario.stop_at = 0;
    scenario.version = stopped.saved_version;
    if (scenario.mode != Mode::kSync) scenario.applied = stopped.applied;
    ++resumed;
    expect_clean(scenario);
  }
  EXPECT_GT(resumed, some.share_of(100));
}

TEST(Simulation, StoppedRunsSaveAVersionThatIsCompleteEverywhere) {
  std::uint64_t interrupted = 0;
  const Seeds some = seeds(500);
  for (std::uint64_t seed = some.first; seed <= some.last && !HasFailure(); ++seed) {
    Scenario scenario = varied(seed, seed % 2 == 0 ? Mode::kSync : Mode::kAsync);
    scenario.stop_at = 0.05 + 0.002 * static_cast<double>(seed % 100);
    const Outcome outcome = simulate(scenario);
    EXPECT_TRUE(outcome.problems.empty()) << describe(scenario, outcome);
    interrupted += outcome.interrupted ? 1 : 0;
  }
  EXPECT_GT(interrupted, some.share_of(100));
}

TEST(Simulation, DivergedRunsSaveTheirLastEpochAndNothingElse) {
  std::uint64_t diverged = 0;
  const Seeds some = seeds(500);
  for (std::uint64_t seed = some.first; seed <= some.last && !HasFailure(); ++seed) {
    Scenario scenario = varied(seed, seed % 2 == 0 ? Mode::kSync : Mode::kAsync);
    scenario.stop_at = 0.05 + 0.002 * static_cast<double>(seed % 100);
    scenario.diverges = true;
    scenario.deaths = 0;
    const Outcome outcome = simulate(scenario);
    EXPECT_TRUE(outcome.problems.empty()) << describe(scenario, outcome);
    EXPECT_EQ(outcome.saved_version, outcome.last_epoch) << describe(scenario, outcome);
    diverged += outcome.ended == "the loss is infinite" ? 1 : 0;
  }
  EXPECT_GT(diverged, some.share_of(100));
}

TEST(Simulation, StoppedRunsGoOnWhereTheyWere) {
  std::uint64_t in_the_middle = 0;
  const Seeds some = seeds(1500);
  for (std::uint64_t seed = some.first; seed <= some.last && !HasFailure(); ++seed) {
    Scenario scenario = varied(seed, seed % 2 == 0 ? Mode::kSync : Mode::kAsync);
    scenario.stop_at = 0.05 + 0.002 * static_cast<double>(seed % 100);
    scenario.deaths = 0;
    const Outcome stopped = simulate(scenario);
    if (!stopped.interrupted) continue;
    scenario.stop_at = 0;
    scenario.version = stopped.saved_version;
    if (scenario.mode != Mode::kSync) scenario.applied = stopped.applied;
    scenario.workers = 1 + static_cast<std::uint32_t>(seed % 4);
    in_the_middle += scenario.applied.size() > 1 ? 1 : 0;
    expect_clean(scenario);
  }
  EXPECT_GT(in_the_middle, some.share_of(20));
}

TEST(Simulation, ARunWhoseSavesFailEndsWithTheReason) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Scenario scenario = varied(seed, seed % 2 == 0 ? Mode::kSync : Mode::kAsync);
    scenario.saves_fail = true;
    scenario.deaths = 0;
    const Outcome outcome = simulate(scenario);
    EXPECT_TRUE(outcome.problems.empty()) << describe(scenario, outcome);
    EXPECT_EQ(outcome.ended, "the simulation's disk is full") << describe(scenario, outcome);
  }
}

TEST(Simulation, FaultsReallyHappen) {
  std::uint64_t assignments = 0;
  std::uint64_t duplicates = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Outcome outcome = simulate(varied(seed, Mode::kSync));
    assignments += outcome.assignments;
    duplicates += outcome.duplicates;
  }
  EXPECT_GT(assignments, 50U);
  EXPECT_GT(duplicates, 20U);
}

// Every event at every server, in order, and every message with its time, words included.
TEST(Simulation, TheSameSeedGivesTheSameRun) {
  for (const Mode mode : {Mode::kSync, Mode::kAsync, Mode::kSsp}) {
    for (std::uint64_t seed = 70; seed < 90; ++seed) {
      Scenario scenario = varied(seed, mode);
      scenario.rows = seed % 5 == 0;
      if (scenario.rows) scenario.chunks_per_server = 1;
      scenario.joins = 1;
      scenario.record = true;
      const Outcome first = simulate(scenario);
      const Outcome second = simulate(scenario);
      EXPECT_EQ(first.events, second.events);
      EXPECT_EQ(first.histories, second.histories) << seed;
      EXPECT_EQ(first.messages, second.messages) << seed;
      ++scenario.seed;  // and another seed another one
      EXPECT_NE(first.messages, simulate(scenario).messages) << seed;
    }
  }
}

// Each rule is broken on purpose; some seed must notice, or the checker checks nothing.
class BrokenRule : public ::testing::TestWithParam<std::pair<Mutation, Mode>> {};

TEST_P(BrokenRule, IsNoticed) {
  const auto [mutation, mode] = GetParam();
  std::uint64_t noticed = 0;
  for (std::uint64_t seed = 1; seed <= 600 && noticed == 0; ++seed) {
    Scenario scenario = varied(seed, mode);
    scenario.workers = 3;
    scenario.deaths = 1 + static_cast<std::uint32_t>(seed % 2);
    scenario.false_deaths = mode == Mode::kSync ? 1 : 0;
    scenario.staleness = 0;
    scenario.slow = 6;
    if (scenario.deaths == 2) scenario.false_deaths = 0;
    if (mutation == Mutation::kForgetTouched) {
      // Two tiles for three workers: the one in the middle has nothing to compute, so it
      // has begun nothing when the other two die.
      scenario.grid = {60, 6, 3};
      scenario.deaths = 2;
      scenario.false_deaths = 0;
    }
    if (mutation == Mutation::kForgetAhead) {
      scenario.rows = true;
      scenario.chunks_per_server = 1;
      scenario.staleness = 1;
      scenario.grid = {400, 8, 2};
    }
    if (mutation == Mutation::kRememberReads) {
      scenario.rows = true;
      scenario.chunks_per_server = 1;
    }
    scenario.mutation = mutation;
    noticed += simulate(scenario).problems.empty() ? 0 : 1;
  }
  EXPECT_GT(noticed, 0U);
}

INSTANTIATE_TEST_SUITE_P(Simulation, BrokenRule,
                         ::testing::Values(std::pair(Mutation::kCountDuplicates, Mode::kSync),
                                           std::pair(Mutation::kCountDuplicates, Mode::kAsync),
                                           std::pair(Mutation::kForgetTouched, Mode::kSync),
                                           std::pair(Mutation::kReleaseReaders, Mode::kSsp),
                                           std::pair(Mutation::kOverwriteInUse, Mode::kSync),
                                           std::pair(Mutation::kForgetAhead, Mode::kSsp),
                                           std::pair(Mutation::kInstallAnyway, Mode::kSync),
                                           std::pair(Mutation::kRememberReads, Mode::kSync)));

// No event tells of these: the words must, whenever the bug strikes.
// Of chunks, or of rows of a table.
class PlantedBug : public ::testing::TestWithParam<std::tuple<Mutation, Mode, bool, bool>> {};

TEST_P(PlantedBug, IsFoundInTheWords) {
  const auto [mutation, mode, deterministic, rows] = GetParam();
  std::uint64_t struck = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Scenario scenario = varied(seed, mode);
    scenario.deterministic = deterministic;
    scenario.rows = rows;
    if (rows) scenario.chunks_per_server = 1;
    // A worker that dies may take what it has spoiled with it.
    if (mutation == Mutation::kWrongBase) scenario.deaths = 0;
    scenario.mutation = mutation;
    const Outcome outcome = simulate(scenario);
    struck += outcome.struck ? 1 : 0;
    EXPECT_EQ(outcome.problems.empty(), !outcome.struck) << "seed " << seed;
  }
  EXPECT_GT(struck, 100U);
}

INSTANTIATE_TEST_SUITE_P(
    Simulation, PlantedBug,
    ::testing::Values(std::tuple(Mutation::kAddTwice, Mode::kSync, false, false),
                      std::tuple(Mutation::kAddTwice, Mode::kSync, true, false),
                      std::tuple(Mutation::kAddTwice, Mode::kAsync, false, false),
                      std::tuple(Mutation::kLose, Mode::kSync, false, false),
                      std::tuple(Mutation::kLose, Mode::kSync, true, false),
                      std::tuple(Mutation::kLose, Mode::kAsync, false, false),
                      std::tuple(Mutation::kWrongPlace, Mode::kSync, true, false),
                      std::tuple(Mutation::kWrongBase, Mode::kSync, false, false),
                      std::tuple(Mutation::kWrongBase, Mode::kSync, true, false),
                      std::tuple(Mutation::kWrongBase, Mode::kAsync, false, false)));

INSTANTIATE_TEST_SUITE_P(
    Rows, PlantedBug,
    ::testing::Values(std::tuple(Mutation::kAddTwice, Mode::kSync, false, true),
                      std::tuple(Mutation::kAddTwice, Mode::kSync, true, true),
                      std::tuple(Mutation::kLose, Mode::kSync, false, true),
                      std::tuple(Mutation::kLose, Mode::kSync, true, true),
                      std::tuple(Mutation::kLose, Mode::kAsync, false, true),
                      std::tuple(Mutation::kWrongPlace, Mode::kSync, true, true)));

}  // namespace
}  // namespace paceline::sim
