// `paceline prepare reviews` by several processes that a real mpirun starts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "system/prepare_run.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class PrepareByMpi : public PrepareRun {
 protected:
  PrepareByMpi() { expect_leaks_of_mpi(); }
  // On loopback alone, as whoever runs the tests.
  std::vector<std::string> mpirun(int processes) const {
    return {"env",
            "OMPI_ALLOW_RUN_AS_ROOT=1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
            "mpirun",
            "--oversubscribe",
            "--mca",
            "oob_tcp_if_include",
            "lo",
            "--mca",
            "btl",
            "self,vader",
            "-n",
            std::to_string(processes)};
  }
  Result run_by(int processes, const std::vector<std::string>& words) {
    PacelineProcess process(dir_.path(), words, mpirun(processes));
    const int code = process.wait();
    return {code, process.output()};
  }
  static std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
      ++found;
    }
    return found;
  }
};

TEST_F(PrepareByMpi, TheContentIsThatOfOneProcess) {
  ASSERT_EQ(run("whole.h5").code, 0);
  for (const int processes : {2, 3}) {
    const Result result = run_by(processes, command("out.h5"));
    ASSERT_EQ(result.code, 0) << result.output;
    EXPECT_EQ(count(result.output, "vocabulary"), 1U) << result.output;
    EXPECT_EQ(read_text(dir_ / "out.h5"), read_text(dir_ / "whole.h5"));
    EXPECT_FALSE(fs::exists(dir_ / "out.h5.work"));
    auto parallel = command("parallel.h5");
    parallel.push_back("--parallel-output");
    ASSERT_EQ(run_by(processes, parallel).code, 0);
    EXPECT_EQ(run_shell(dir_.path(), "h5diff whole.h5 parallel.h5"), 0);
  }
}

// When one process is killed mpirun ends the others; the same command goes on.
TEST_F(PrepareByMpi, WhenOneIsKilledTheSameCommandGoesOn) {
  ASSERT_EQ(run("whole.h5").code, 0);
  const fs::path folder = dir_ / "out.h5.work" / "process-1";
  int killed = 0;
  for (const char* done : {"read-000000.json", "shared.json", "words.json"}) {
    PacelineProcess process(dir_.path(), command("out.h5"), mpirun(2));
    eventually(20, [&] { return fs::exists(folder / done) || fs::exists(dir_ / "out.h5"); });
    // One of those that mpirun has started.
    run_shell(dir_.path(), fmt::format("kill -KILL $(pgrep -P {} | tail -n 1) 2> /dev/null || true",
                                       process.pid()));
    const int code = process.wait();
    if (code == 0) break;  // it was faster
    ++killed;
    EXPECT_FALSE(fs::exists(dir_ / "out.h5"));
  }
  EXPECT_GT(killed, 0);
  const Result result = run_by(2, command("out.h5"));
  ASSERT_EQ(result.code, 0) << result.output;
  EXPECT_EQ(run_shell(dir_.path(), "h5diff whole.h5 out.h5"), 0);
}

TEST_F(PrepareByMpi, OneOfThemSaysWhatIsWrong) {
  const Result missing =
      run_by(3, {"prepare", "reviews", "nothing.json", "--output", dir_.file("out.h5")});
  EXPECT_EQ(missing.code, 3);
  EXPECT_EQ(count(missing.output, "nothing.json"), 1U) << missing.output;
  auto tsv = command("out.tsv");
  tsv.insert(tsv.end(), {"--format", "tsv"});
  const Result refused = run_by(2, tsv);
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(count(refused.output, "--format tsv"), 1U) << refused.output;
  const Result nowhere = run_by(2, {"prepare", "reviews", "r.json"});
  EXPECT_EQ(nowhere.code, 2);
  EXPECT_EQ(count(nowhere.output, "--output is missing"), 1U) << nowhere.output;
}

// One that fails alone, in the middle of what all do, ends all: nobody waits for ever.
TEST_F(PrepareByMpi, OnAFullDiskAllEnd) {
  fs::create_directory(dir_ / "small");
  auto words = command("small/out.h5");
  words.insert(words.end(), {"--work-dir", dir_.file("work"), "--parallel-output"});
  std::vector<std::string> wrapper = {
      "unshare",
      "--map-root-user",
      "--mount",
      "sh",
      "-c",
      fmt::format("cd '{}' && mount -t tmpfs -o size=100k none small && \"$0\" \"$@\"",
                  dir_.path().string())};
  for (const std::string& word : mpirun(2)) wrapper.push_back(word);
  PacelineProcess process(dir_.path(), words, wrapper);
  EXPECT_NE(process.wait(), 0);
  EXPECT_THAT(process.output(), HasSubstr("cannot write"));
  EXPECT_FALSE(fs::exists(dir_ / "small" / "out.h5"));
}

}  // namespace
}  // namespace paceline
