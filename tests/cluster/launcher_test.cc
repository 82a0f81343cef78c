#include "cluster/launcher.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/temp_dir.h"
#include "session/failure.h"

namespace paceline {
namespace {

using Child = LocalLauncher::Child;

// Children are scripts: $2 is the descriptor to read from, $4 that to write to.
class LauncherTest : public ::testing::Test {
 protected:
  void start(const std::string& name, const std::string& script) {
    launcher_.start(name, {"/bin/sh", "-c", script, name}, "what it is to be");
  }
  Child ended() {
    while (true) {
      const std::vector<Child> ended = launcher_.ended();
      if (!ended.empty()) return ended.front();
      std::this_thread::yield();
    }
  }
  std::string quoted(const Error& error) const {
    const std::string line = failure_line(error);
    return "'" + line.substr(0, line.size() - 1) + "'";
  }

  TempDir dir_;
  LocalLauncher launcher_{dir_.path()};
};

TEST_F(LauncherTest, HearsWhyAChildHasFailed) {
  CommError lost(Error("the line has ended"), "server0 is lost");
  lost.set_about("server0");
  start("chief", "echo " + quoted(lost) + " > /proc/self/fd/$4; exit 4");
  const Child child = ended();
  EXPECT_EQ(child.name, "chief");
  EXPECT_EQ(WEXITSTATUS(child.finished->status), 4);
  ASSERT_TRUE(child.failure);
  EXPECT_STREQ(child.failure->what(), "server0 is lost: the line has ended");
  EXPECT_EQ(child.failure->code(), ExitCode::kCommunication);
  EXPECT_EQ(child.failure->reasons().front().about, "server0");
}

TEST_F(LauncherTest, TellsAChildWhatItIsToBe) {
  start("worker0", "[ \"$(cat /proc/self/fd/$2)\" = 'what it is to be' ]");
  EXPECT_TRUE(ended().finished->ok());
}

TEST_F(LauncherTest, HearsNothingFromAChildThatSaysNothing) {
  start("worker0", "echo paceline: in the log only; exit 3");
  const Child child = ended();
  EXPECT_EQ(WEXITSTATUS(child.finished->status), 3);
  EXPECT_FALSE(child.failure);
}

TEST_F(LauncherTest, DoesNotTakeHalfALineOfAChildThatWasKilled) {
  start("worker0", "printf %s " + quoted(Error("half")) + " > /proc/self/fd/$4; kill -9 $$");
  const Child child = ended();
  EXPECT_EQ(child.finished->describe(), "was killed by signal 9 (Killed)");
  EXPECT_FALSE(child.failure);
}

TEST_F(LauncherTest, HearsWhatAChildHasSaidBeforeItWasKilled) {
  start("worker0", "echo " + quoted(Error("whole")) + " > /proc/self/fd/$4; kill -9 $$");
  const Child child = ended();
  EXPECT_TRUE(WIFSIGNALED(child.finished->status));
  ASSERT_TRUE(child.failure);
  EXPECT_STREQ(child.failure->what(), "whole");
}

TEST_F(LauncherTest, TellsWhoRuns) {
  start("server0", "exec sleep 100");
  start("server1", "exec sleep 100");
  EXPECT_EQ(launcher_.running_count(), 2U);
  launcher_.signal("server1", SIGTERM);
  EXPECT_EQ(ended().name, "server1");
  EXPECT_TRUE(launcher_.running("server0"));
  EXPECT_FALSE(launcher_.running("server1"));
  launcher_.wait_all(Clock::now());
  EXPECT_EQ(launcher_.running_count(), 0U);
}

// A process that has ended.
pid_t dead_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

class Folder {
 public:
  explicit Folder(const std::string& name) : path_("/tmp/" + name) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

TEST(SocketFolder, RemovesWhatALauncherHasLeftThatWasKilled) {
  const Folder left("paceline-" + std::to_string(dead_process()) + "-aBcD12");
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (left.path() / "chief.sock").string().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ::close(socket);
  const SocketFolder folder;
  EXPECT_FALSE(std::filesystem::exists(left.path()));
}

TEST(SocketFolder, RemovesNothingElse) {
  const std::string dead = std::to_string(dead_process());
  const Folder others[] = {Folder("paceline-" + dead), Folder("paceline-" + dead + "-mnist"),
                           Folder("paceline-" + dead + "-aBcD123"),
                           Folder("paceline-" + dead + "xaBcD12")};
  const Folder full("paceline-" + dead + "-full12");  // of the same form
  std::ofstream(full.path() / "summary.json") << "{}";
  const Folder locked("paceline-" + dead + "-lock12");
  const auto lock = FileLock::try_lock(locked.path());
  const SocketFolder folder;
  for (const Folder& other : others) EXPECT_TRUE(std::filesystem::exists(other.path()));
  EXPECT_TRUE(std::filesystem::exists(full.path() / "summary.json"));
  EXPECT_TRUE(std::filesystem::exists(locked.path()));
}

TEST(SocketFolder, IsThereForItsOwnersLife) {
  std::filesystem::path path;
  {
    const SocketFolder folder;
    path = folder.path();
    EXPECT_TRUE(std::filesystem::is_directory(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace paceline
