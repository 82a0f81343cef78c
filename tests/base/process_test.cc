#include "base/process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/file/file.h"
#include "base/temp_dir.h"

namespace paceline {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Command shell(const std::string& script) {
  Command command;
  command.arguments = {"sh", "-c", script};
  return command;
}

int wait_for(pid_t child) {
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

struct Pipe {
  Pipe() { EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0); }
  ~Pipe() {
    close_writer();
    ::close(ends[0]);
  }
  void close_writer() {
    if (ends[1] >= 0) ::close(std::exchange(ends[1], -1));
  }
  // What is left to read, until nobody has the other end open any more.
  std::string read_to_end() {
    std::string text;
    std::array<char, 256> block{};
    for (ssize_t got = 1; got > 0;) {
      got = ::read(ends[0], block.data(), block.size());
      if (got > 0) text.append(block.data(), static_cast<std::size_t>(got));
    }
    return text;
  }
  std::array<int, 2> ends{};
};

TEST(Run, KnowsThePeakMemoryOfWhatHasEnded) {
  const std::uint64_t large = std::uint64_t{64} << 20;
  EXPECT_GT(
      run(shell("head -c 67108864 /dev/zero | tail -c 67108864 >/dev/null")).usage.peak_rss_bytes,
      large);
}

TEST(Run, CapturesBothOutputs) {
  std::string captured = "before ";
  const Finished finished = run(shell("echo one; echo two >&2"), &captured);
  EXPECT_TRUE(finished.ok());
  EXPECT_EQ(captured, "before one\ntwo\n");
}

TEST(Run, CapturesMoreThanAPipeHolds) {
  std::string captured;
  EXPECT_TRUE(run(shell("head -c 1000000 /dev/zero"), &captured).ok());
  EXPECT_EQ(captured.size(), 1'000'000u);
}

TEST(Run, DescribesHowTheCommandEnded) {
  EXPECT_EQ(run(shell("exit 0")).describe(), "exited with code 0");
  const Finished failed = run(shell("exit 3"));
  EXPECT_FALSE(failed.ok());
  EXPECT_EQ(failed.describe(), "exited with code 3");
  EXPECT_EQ(run(shell("kill -9 $$")).describe(), "was killed by signal 9 (Killed)");
}

TEST(Run, OfAMissingProgramNamesItAndKeepsNoDescriptorOpen) {
  Command command;
  command.arguments = {"no-such-program-as-this"};
  std::string captured;
  const int free_before = ::dup(0);
  ::close(free_before);
  try {
    run(command, &captured);
    FAIL() << "the program exists";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("no-such-program-as-this"), HasSubstr("No such")));
  }
  const int free_after = ::dup(0);
  ::close(free_after);
  EXPECT_EQ(free_after, free_before);
}

TEST(Run, WorksInTheGivenDirectory) {
  const TempDir dir;
  Command command = shell("pwd -P");
  command.directory = dir.path().string();
  std::string captured;
  EXPECT_TRUE(run(command, &captured).ok());
  EXPECT_EQ(captured, std::filesystem::canonical(dir.path()).string() + "\n");
  command.directory = (dir / "missing").string();
  try {
    run(command, &captured);
    FAIL() << "there is no such folder";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("cannot start sh"), HasSubstr(command.directory)));
  }
}

TEST(Start, AppendsToTheOutputFile) {
  const TempDir dir;
  Command command = shell("echo line; echo error >&2");
  command.output = (dir / "log").string();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(wait_for(start(command)), 0);
  EXPECT_EQ(read_text(dir / "log"), "line\nerror\nline\nerror\n");
}

TEST(Start, WithAnOutputThatCannotBeWrittenIsADataError) {
  const TempDir dir;
  Command command = shell("true");
  command.output = dir.path().string();
  EXPECT_THROW(start(command), DataError);
}

TEST(Start, HandsDownOnlyTheDescriptorsToKeep) {
  Pipe kept;
  Pipe hidden;
  Command command = shell("echo kept >&$0; if ( : >&$1 ) 2>/dev/null; then echo leak >&$0; fi");
  command.arguments.push_back(std::to_string(kept.ends[1]));
  command.arguments.push_back(std::to_string(hidden.ends[1]));
  command.keep = {kept.ends[1]};
  const pid_t child = start(command);
  kept.close_writer();
  EXPECT_EQ(kept.read_to_end(), "kept\n");
  wait_for(child);
}

TEST(Start, GivesItsOwnGroupWhenAsked) {
  Command command = shell("exec sleep 600");
  const pid_t same = start(command);
  command.own_group = true;
  const pid_t own = start(command);
  EXPECT_EQ(::getpgid(same), ::getpgrp());
  EXPECT_EQ(::getpgid(own), own);
  for (const pid_t child : {same, own}) {
    ::kill(child, SIGKILL);
    wait_for(child);
  }
}

TEST(Start, RestoresTheSignalsThatTheParentIgnores) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  const Finished finished = run(shell("kill -PIPE $$; exit 0"));
  std::signal(SIGPIPE, before);
  EXPECT_EQ(finished.describe(), "was killed by signal 13 (Broken pipe)");
}

// The sleeper holds the pipe open; reading it to its end means that the sleeper is gone.
TEST(Start, ChildDiesWithItsParentWhenAsked) {
  Pipe alive;
  const pid_t parent = ::fork();
  if (parent == 0) {
    Command command;
    command.arguments = {"sleep", "600"};
    command.keep = {alive.ends[1]};
    command.dies_with_parent = true;
    start(command);
    ::kill(::getpid(), SIGKILL);
  }
  alive.close_writer();
  EXPECT_TRUE(WIFSIGNALED(wait_for(parent)));
  EXPECT_EQ(alive.read_to_end(), "");
}

TEST(ThisProcess, KnowsWhereItIsAndWhatItMayUse) {
  EXPECT_EQ(std::filesystem::path(this_executable()).filename(), "base_tests");
  EXPECT_FALSE(host_name().empty());
  EXPECT_GE(available_cores(), 1u);
  EXPECT_GT(available_memory(), std::uint64_t{1} << 20);
}

TEST(ThisProcess, CountsItsCpuTimeAndPeakMemory) {
  const Usage before = usage_of_this_process();
  EXPECT_GT(before.peak_rss_bytes, std::uint64_t{1} << 20);
  std::vector<char> memory(before.peak_rss_bytes + (std::size_t{32} << 20), 'x');
  Usage after = usage_of_this_process();
  EXPECT_GT(after.peak_rss_bytes, before.peak_rss_bytes) << memory.back();
  while (after.cpu_seconds <= before.cpu_seconds) after = usage_of_this_process();
}

}  // namespace
}  // namespace paceline
