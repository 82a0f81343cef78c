#include "prepare/tasks.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.h"
#include "base/file/file.h"
#include "base/temp_dir.h"
#include "prepare/group_step.h"
#include "prepare/number_step.h"
#include "prepare/read_step.h"

namespace paceline {
namespace {

TEST(Tasks, AreEachDoneOnce) {
  for (const unsigned threads : {1U, 2U, 5U}) {
    std::vector<std::atomic<int>> done(100);
    run_tasks(done.size(), threads, false, [&](std::size_t task) { ++done[task]; });
    for (const auto& times : done) EXPECT_EQ(times, 1);
  }
  run_tasks(0, 4, false, [](std::size_t) { FAIL(); });
}

TEST(Tasks, EndWithTheFirstThatFails) {
  std::atomic<int> done = 0;
  EXPECT_THROW(run_tasks(1000, 3, false,
                         [&](std::size_t task) {
                           if (task == 10) throw DataError("broken");
                           ++done;
                         }),
               DataError);
  EXPECT_LT(done, 1000);
}

TEST(Tasks, EndWhenTheyAreStopped) {
  StopFlag stop = false;
  EXPECT_THROW(run_tasks(1000, 2, stop, [&](std::size_t task) { stop = stop || task == 5; }),
               Interrupted);
}

TEST(Tasks, ThatAreDoneSaySo) {
  TempDir dir;
  EXPECT_TRUE(read_done(dir.path() / "a").is_null());
  write_done(dir.path() / "a", {{"rows", 3}});
  EXPECT_EQ(read_done(dir.path() / "a")["rows"], 3);
  write_atomically(dir.path() / "a", "{\"rows\"");
  EXPECT_TRUE(read_done(dir.path() / "a").is_null());
}

TEST(Tasks, AReportThatIsNotWhatWasWrittenIsNone) {
  TempDir dir;
  const std::string text = sealed({{"rows", 3}});
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string damaged = text;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    write_atomically(dir / "a", damaged);
    EXPECT_TRUE(read_done(dir / "a").is_null()) << at;
    write_atomically(dir / "a", text.substr(0, at));
    EXPECT_TRUE(read_done(dir / "a").is_null()) << at;
  }
  write_atomically(dir / "a", text);
  EXPECT_EQ(read_done(dir / "a")["rows"], 3);
}

TEST(Tasks, AReportWithOtherFieldsIsRefused) {
  for (const nlohmann::json& report :
       {nlohmann::json(5), nlohmann::json::object(), nlohmann::json{{"rows", "three"}}}) {
    EXPECT_THROW(read_report(report), DataError) << report;
    EXPECT_THROW(group_report(report), DataError) << report;
    EXPECT_THROW(number_report(report), DataError) << report;
  }
}

TEST(Tasks, ThatAreDoneAreNotDoneAgain) {
  TempDir dir;
  const auto name = [&](std::size_t task) { return dir.path() / std::to_string(task); };
  std::vector<std::size_t> worked;
  std::vector<std::size_t> skipped;
  const Tasks tasks{4, name,
                    [&](std::size_t task) {
                      worked.push_back(task);
                      return nlohmann::json(10 * task);
                    },
                    [&](std::size_t task) { skipped.push_back(task); }};
  write_done(dir.path() / "2.json", 20);
  const std::vector<nlohmann::json> expected = {0, 10, 20, 30};
  EXPECT_EQ(finish_tasks(tasks, 1, false), expected);
  EXPECT_EQ(worked, (std::vector<std::size_t>{0, 1, 3}));
  EXPECT_EQ(skipped, (std::vector<std::size_t>{2}));
  EXPECT_EQ(finish_tasks(tasks, 1, false), expected);
  EXPECT_EQ(worked.size(), 3U);
}

}  // namespace
}  // namespace paceline
