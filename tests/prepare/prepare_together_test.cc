// Several processes prepare together; here they are threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "prepare/number_step.h"
#include "prepare/prepare_fixture.h"
#include "prepare/thread_fleet.h"

namespace paceline {
namespace {

using testing::HasSubstr;

// Every row of a file.
std::vector<std::pair<std::vector<std::int32_t>, std::int32_t>> rows_of(const fs::path& path) {
  std::vector<std::pair<std::vector<std::int32_t>, std::int32_t>> rows;
  const PreparedReviews file(path);
  for (const PreparedPart part :
       {PreparedPart::kTrain, PreparedPart::kValidation, PreparedPart::kTest}) {
    for_each_review(file, part, [&](std::span<const std::int32_t> tokens, std::int32_t label) {
      rows.emplace_back(std::vector(tokens.begin(), tokens.end()), label);
    });
  }
  return rows;
}

// On one host, or on as many as there are processes.
class PrepareTogether : public PrepareTest, public testing::WithParamInterface<bool> {
 protected:
  PrepareTogether() {
    options_.settings.test_share = 0.2;
    options_.settings.vocabulary = 200;
    options_.settings.length = 8;
    options_.threads = 1;
    options_.portion_bytes = 40'000;
    options_.inputs = {make("r.json", as_json(made_up(6000))).string()};
  }
  void prepare_with(std::size_t processes) {
    const auto prepare_one = [&](Fleet& fleet) {
      const Json summary = prepare_reviews(options_, fleet, stop_, {});
      if (fleet.rank() == 0) together_ = summary;
    };
    run_fleet(processes, prepare_one, GetParam());
  }
  Json together_;
};

INSTANTIATE_TEST_SUITE_P(Hosts, PrepareTogether, testing::Bool(),
                         [](const auto& hosts) { return hosts.param ? "One" : "Many"; });

TEST_P(PrepareTogether, TheContentIsThatOfOneProcess) {
  Json alone = prepare();
  const auto rows = rows_of(options_.output);
  const std::string bytes = read_text(options_.output);
  for (const bool parallel : {false, true}) {
    options_.parallel_output = parallel;
    for (const std::size_t processes : {2U, 3U, 5U}) {
      fs::remove(options_.output);
      prepare_with(processes);
      EXPECT_EQ(rows_of(options_.output), rows);
      EXPECT_TRUE(parallel || read_text(options_.output) == bytes);
      for (const char* own : {"seconds", "output_bytes", "processes"}) {
        alone.erase(own);
        together_.erase(own);
      }
      EXPECT_EQ(together_, alone);
      EXPECT_FALSE(fs::exists(dir_ / "out.h5.work"));
      EXPECT_FALSE(fs::exists(dir_ / "out.h5.partial"));
    }
  }
}

// Tasks of numbering that lie in one process, in two and in all of them.
TEST_P(PrepareTogether, RowsOfATaskMayLieInAnyNumberOfProcesses) {
  std::string text;
  for (std::size_t i = 0; i < 2 * task_rows(options_.settings.length) + 5000; ++i) {
    text += fmt::format("{}\tword{} w{}\n", 1 + i % 5, i, i % 50);
  }
  options_.portion_bytes = 0;
  options_.settings.test_share = 0.002;
  options_.inputs = {make("many.tsv", text).string()};
  prepare();
  const std::string bytes = read_text(options_.output);
  for (const std::size_t processes : {2U, 3U, 7U}) {
    prepare_with(processes);
    EXPECT_EQ(read_text(options_.output), bytes);
  }
}

TEST_P(PrepareTogether, SomeMayHaveNothingToRead) {
  options_.portion_bytes = 0;
  const Json alone = prepare();
  prepare_with(3);
  EXPECT_EQ(together_["content_checksum"], alone["content_checksum"]);
}

TEST_P(PrepareTogether, WhatWasStoppedGoesOn) {
  const Json alone = prepare();
  fs::remove(options_.output);
  const fs::path work = dir_ / "out.h5.work";
  for (const char* name : {"read-000001.json", "shared.json", "group-000.json", "words.json"}) {
    stop_ = false;
    try {
      const StopWhenThereIs watcher(work / "process-1" / name, stop_);
      prepare_with(2);
    } catch (const SharedError& error) {
      EXPECT_EQ(error.code(), ExitCode::kInterrupted);
      EXPECT_FALSE(fs::exists(options_.output));
    }
    fs::remove(options_.output);  // of whoever was faster than that
  }
  stop_ = false;
  prepare_with(2);
  EXPECT_EQ(together_["content_checksum"], alone["content_checksum"]);
}

// Of a host that was replaced, say: the others do again what depends on it.
TEST_P(PrepareTogether, WhatOneProcessHasLostIsMadeAgain) {
  const Json alone = prepare();
  fs::remove(options_.output);
  const fs::path work = dir_ / "out.h5.work";
  try {
    const StopWhenThereIs watcher(work / "process-0" / "words.json", stop_);
    prepare_with(2);
  } catch (const SharedError&) {
    EXPECT_TRUE(fs::exists(work / "process-0" / "shared.json"));
  }
  stop_ = false;
  fs::remove_all(work / "process-1");
  prepare_with(2);
  EXPECT_EQ(together_["content_checksum"], alone["content_checksum"]);
}

TEST_P(PrepareTogether, FoldersOfOtherRunsAreRefused) {
  stop_ = true;
  EXPECT_THROW(prepare_with(2), SharedError);
  EXPECT_THROW(prepare_with(3), SharedError);
  EXPECT_THROW(prepare(), DataError);
  stop_ = false;
  prepare_with(2);
  EXPECT_EQ(together_["rows_in"], prepare()["rows_in"]);
}

TEST_P(PrepareTogether, WhatSeveralProcessesCannotDoIsRefused) {
  const auto refusal_of = [&](std::size_t processes) -> std::string {
    try {
      prepare_with(processes);
    } catch (const SharedError& error) {
      return error.what();
    }
    return "nothing was refused";
  };
  options_.format = PrepareFormat::kTsv;
  EXPECT_THAT(refusal_of(2), HasSubstr("--format tsv"));
  options_.format = PrepareFormat::kHdf5;
  options_.inputs = {make("empty.json", "").string()};
  EXPECT_THAT(refusal_of(2), HasSubstr("the files are empty"));
  EXPECT_FALSE(fs::exists(dir_ / "out.h5.work"));
  options_.inputs = {"-"};
  EXPECT_THAT(refusal_of(2), HasSubstr("standard input"));
}

}  // namespace
}  // namespace paceline
