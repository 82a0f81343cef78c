#include "lab/runner.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/temp_dir.h"
#include "lab/fake_program.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

class RunnerTest : public ::testing::Test {
 protected:
  std::filesystem::path script(const std::string& content) {
    return write_program(folder_ / "program", content);
  }

  std::string failure(const Program& program) {
    try {
      runner_.run(program);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }

  // A pipe with a name: its reader sees the end when no process has it open any more.
  std::string make_pipe() {
    const std::string name = (folder_ / "pipe").string();
    EXPECT_EQ(::mkfifo(name.c_str(), 0600), 0);
    return name;
  }

  TempDir folder_;
  Runner runner_;
};

std::string read_line(int descriptor) {
  std::string line;
  char letter = 0;
  while (::read(descriptor, &letter, 1) == 1 && letter != '\n') line += letter;
  return line;
}

TEST_F(RunnerTest, TheReportIsTheLastObjectOfTheOutput) {
  const auto file = script(
      "echo starting; echo '{\"a\": 1}'; echo '{\"a\": 2}'; echo 'a warning' >&2; echo '[3]'");
  EXPECT_EQ(runner_.run({file}), nlohmann::json({{"a", 2}}));
}

TEST_F(RunnerTest, ArgumentsArriveAsTheyAre) {
  const auto file = script(R"(printf '{"first": "%s", "count": %d}\n' "$1" $#)");
  EXPECT_EQ(runner_.run({file, {"with a space", "*"}}),
            nlohmann::json({{"first", "with a space"}, {"count", 2}}));
}

TEST_F(RunnerTest, ProgramsComputeOnOneThread) {
  const auto file = script(R"(echo "[$OMP_NUM_THREADS, $OPENBLAS_NUM_THREADS]" >"$1"; echo '{}')");
  runner_.run({file, {(folder_ / "threads").string()}});
  std::string threads;
  std::getline(std::ifstream(folder_ / "threads"), threads);
  EXPECT_EQ(threads, "[1, 1]");
}

TEST_F(RunnerTest, AProgramForOneCoreMayUseOneCore) {
  const auto file = script(
      "printf '{\"cores\": \"%s\"}\\n' $(awk '/^Cpus_allowed_list/ {print $2}' /proc/self/status)");
  const std::string cores = runner_.run({.file = file, .one_core = true})["cores"];
  EXPECT_EQ(cores.find_first_not_of("0123456789"), std::string::npos) << cores;
}

TEST_F(RunnerTest, WhatAProgramHasUsedIsKnown) {
  Usage usage;
  runner_.run({script("echo '{}'")}, &usage);
  EXPECT_GT(usage.peak_rss_bytes, 100'000u);
}

TEST_F(RunnerTest, AMissingProgramIsNamedWithWhatToDo) {
  const std::string reason = failure({folder_ / "absent"});
  EXPECT_THAT(reason, HasSubstr("absent is not in " + folder_.path().string()));
  EXPECT_THAT(reason, HasSubstr("./paceline bench"));
}

TEST_F(RunnerTest, AProgramThatFailsIsQuoted) {
  EXPECT_EQ(failure({script("echo '{}'; echo 'no such module: torch' >&2; exit 3")}),
            "program exited with code 3: no such module: torch");
  EXPECT_THAT(failure({script("kill -SEGV $$")}), HasSubstr("program was killed by signal 11"));
}

TEST_F(RunnerTest, SilenceIsAFailure) {
  EXPECT_EQ(failure({script("echo done")}), "program ended without a line of JSON");
}

TEST_F(RunnerTest, AProgramThatTakesTooLongIsStoppedWithItsChildren) {
  const std::string pipe = make_pipe();
  const auto file = script("exec 3>" + pipe + "; sleep 1000 & echo waiting; wait");
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  EXPECT_THAT(failure({.file = file, .limit = 300ms}),
              HasSubstr("program had not ended after 300 ms"));
  ::fcntl(reader, F_SETFL, 0);
  EXPECT_EQ(read_line(reader), "");  // returns when the last process is gone
  ::close(reader);
}

TEST_F(RunnerTest, CtrlCStopsTheProgramAndIsThrown) {
  EXPECT_THROW(runner_.run({script("kill -INT $PPID; sleep 1000")}), Interrupted);
  EXPECT_THROW(runner_.run({script("kill -TERM $PPID; sleep 1000")}), Interrupted);
  EXPECT_NO_THROW(runner_.run({script("echo '{}'")}));
}

TEST_F(RunnerTest, AProgramDiesWithTheProcessThatRunsIt) {
  const std::string pipe = make_pipe();
  const auto file = script("exec 3>" + pipe + "; echo started >&3; exec sleep 1000");
  const pid_t parent = ::fork();
  if (parent == 0) {
    ::setenv("TMPDIR", folder_.path().c_str(), 1);  // it will have no time to clean up
    Runner().run({file});
    ::_exit(0);
  }
  const int reader = ::open(pipe.c_str(), O_RDONLY);
  EXPECT_EQ(read_line(reader), "started");
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  EXPECT_EQ(read_line(reader), "");
  ::close(reader);
}

TEST_F(RunnerTest, AFreshFolderIsNotThereYet) {
  const auto folder = runner_.fresh_folder();
  EXPECT_FALSE(std::filesystem::exists(folder));
  std::filesystem::create_directories(folder / "leftover");
  EXPECT_EQ(runner_.fresh_folder(), folder);
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST_F(RunnerTest, FoldersOfDifferentNamesLieSideBySide) {
  const auto folder = runner_.fresh_folder();
  std::filesystem::create_directories(folder);
  EXPECT_NE(runner_.fresh_folder("peer"), folder);
  EXPECT_TRUE(std::filesystem::exists(folder));
}

TEST(Runner, NothingRemainsOfIt) {
  std::filesystem::path folder;
  {
    Runner runner;
    folder = runner.fresh_folder();
    std::filesystem::create_directories(folder);
  }
  EXPECT_FALSE(std::filesystem::exists(folder.parent_path()));
}

}  // namespace
}  // namespace paceline
