#include "prepare/tasks.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/temp_dir.h"

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

}  // namespace
}  // namespace paceline
