// `paceline prepare reviews` by several processes that a real Slurm starts: its controller and two
// virtual nodes, all of them in one folder.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "base/paths.h"
#include "system/prepare_run.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// A program that runs until this ends.
class Daemon {
 public:
  Daemon(const fs::path& log, const std::vector<std::string>& words) {
    pid_ = ::fork();
    if (pid_ != 0) return;
    ::setpgid(0, 0);
    const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    std::vector<char*> raw;
    for (const std::string& word : words) raw.push_back(const_cast<char*>(word.c_str()));
    raw.push_back(nullptr);
    ::execvp(raw[0], raw.data());
    ::_exit(127);
  }
  ~Daemon() {
    ::kill(-pid_, SIGTERM);
    int status = 0;
    if (!eventually(5, [&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; })) {
      ::kill(-pid_, SIGKILL);
      ::waitpid(pid_, &status, 0);
    }
  }
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

 private:
  pid_t pid_;
};

// Who runs the tests: all of Slurm is his.
std::string user_name() {
  const passwd* user = ::getpwuid(::getuid());
  return user != nullptr ? user->pw_name : "root";
}

// As long as it lives, `srun` runs what it is given on two nodes.
class Slurm {
 public:
  Slurm() {
    write_configuration();
    start("munged", {"munged", "--foreground", "--force", "--key-file=" + file("munge.key"),
                     "--socket=" + file("munge.sock"), "--pid-file=" + file("munged.pid"),
                     "--log-file=" + file("munged.log"), "--seed-file=" + file("munge.seed")});
    eventually(20, [this] { return fs::exists(dir_ / "munge.sock"); });
    ::setenv("SLURM_CONF", file("slurm.conf").c_str(), 1);
    start("slurmctld", {"slurmctld", "-D"});
    for (const char* node : {"n1", "n2"}) start(node, {"slurmd", "-D", "-N", node});
  }
  ~Slurm() {
    ::unsetenv("SLURM_CONF");
    while (!daemons_.empty()) daemons_.pop_back();
  }
  Slurm(const Slurm&) = delete;
  Slurm& operator=(const Slurm&) = delete;

  // Waits until nothing runs on either node.
  bool is_idle() const {
    return eventually(30, [this] {
      return run_shell(dir_.path(), "test $(sinfo -h -N -t idle | wc -l) = 2 2>/dev/null") == 0;
    });
  }
  std::string log() const { return read_text(dir_ / "slurmctld.out"); }

 private:
  std::string file(const std::string& name) const { return dir_.file(name); }
  void start(const std::string& name, const std::vector<std::string>& words) {
    daemons_.push_back(std::make_unique<Daemon>(dir_ / (name + ".out"), words));
  }
  void write_configuration() {
    ::chmod(dir_.path().c_str(), 0755);
    write_atomically(dir_ / "munge.key", std::string(1024, 'k'));
    ::chmod(file("munge.key").c_str(), 0600);
    for (const char* name : {"state", "spool.n1", "spool.n2", "tmp.n1", "tmp.n2"}) {
      fs::create_directory(dir_ / name);
    }
    write_atomically(
        dir_ / "slurm.conf",
        fmt::format("ClusterName=test\nSlurmctldHost=localhost(127.0.0.1)\n"
                    "AuthType=auth/munge\nAuthInfo=socket={0}/munge.sock\nSlurmUser={4}\n"
                    "SlurmdUser={4}\n"
                    "SlurmctldPort={1}\nStateSaveLocation={0}/state\nSlurmdSpoolDir={0}/spool.%n\n"
                    "TmpFS={0}/tmp.%n\nSlurmctldPidFile={0}/slurmctld.pid\n"
                    "SlurmdPidFile={0}/slurmd.%n.pid\nSlurmctldLogFile={0}/slurmctld.log\n"
                    "SlurmdLogFile={0}/slurmd.%n.log\nProctrackType=proctrack/linuxproc\n"
                    "TaskPlugin=task/none\nJobAcctGatherType=jobacct_gather/none\n"
                    "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n"
                    "MpiDefault=none\nReturnToService=2\nSlurmdParameters=config_overrides\n"
                    "CommunicationParameters=NoInAddrAny,NoCtldInAddrAny\n"
                    "NodeName=n1 NodeHostname=localhost NodeAddr=127.0.0.1 Port={2} CPUs=4\n"
                    "NodeName=n2 NodeHostname=localhost NodeAddr=127.0.0.1 Port={3} CPUs=4\n"
                    "PartitionName=p Nodes=ALL Default=YES State=UP\n",
                    dir_.path().string(), free_port(), free_port(), free_port(), user_name()));
  }

  TempDir dir_;
  std::vector<std::unique_ptr<Daemon>> daemons_;
};

// One Slurm for all tests, since it takes longer to start than they do: ctest runs them together.
class PrepareBySlurm : public PrepareRun {
 protected:
  PrepareBySlurm() { expect_leaks_of_mpi(); }
  static void SetUpTestSuite() { slurm_ = std::make_unique<Slurm>(); }
  static void TearDownTestSuite() { slurm_.reset(); }
  void SetUp() override { ASSERT_TRUE(slurm_->is_idle()) << slurm_->log(); }

  Result srun(std::vector<std::string> options, const std::vector<std::string>& words) {
    options.insert(options.begin(), "srun");
    PacelineProcess process(dir_.path(), words, options);
    const int code = process.wait();
    return {code, process.output()};
  }

  static inline std::unique_ptr<Slurm> slurm_;
};

TEST_F(PrepareBySlurm, TheContentIsThatOfOneProcess) {
  ASSERT_EQ(run("whole.h5").code, 0);
  const Result result = srun({"--mpi=pmix", "-N2", "-n2"}, command("out.h5"));
  ASSERT_EQ(result.code, 0) << result.output;
  EXPECT_EQ(run_shell(dir_.path(), "h5diff whole.h5 out.h5"), 0);
}

// As docs/prepare.md says: with that option nobody waits for a process that is no more.
TEST_F(PrepareBySlurm, WhenOneIsKilledAllEndAndTheSameCommandGoesOn) {
  ASSERT_EQ(run("whole.h5").code, 0);
  const std::vector<std::string> srun_words = {"srun", "--mpi=pmix", "--kill-on-bad-exit=1", "-N2",
                                               "-n2"};
  const fs::path folder = dir_ / "out.h5.work" / "process-1";
  PacelineProcess process(dir_.path(), command("out.h5"), srun_words);
  ASSERT_TRUE(eventually(20, [&] { return fs::exists(folder / "read-000000.json"); }));
  run_shell(dir_.path(), fmt::format("kill -KILL $(pgrep -f '^{} prepare reviews {}' | tail -n 1)",
                                     program_path(), dir_.path().string()));
  EXPECT_NE(process.wait(), 0);
  EXPECT_FALSE(fs::exists(dir_ / "out.h5"));
  PacelineProcess again(dir_.path(), command("out.h5"), srun_words);
  EXPECT_EQ(again.wait(), 0) << again.output();
  EXPECT_THAT(again.output(), HasSubstr("going on"));
  EXPECT_EQ(run_shell(dir_.path(), "h5diff whole.h5 out.h5"), 0);
}

TEST_F(PrepareBySlurm, ProcessesThatDoNotKnowEachOtherAreRefused) {
  const Result result = srun({"-N2", "-n2"}, command("out.h5"));
  EXPECT_EQ(result.code, 2) << result.output;
  EXPECT_THAT(result.output, HasSubstr("srun --mpi=pmix"));
  EXPECT_FALSE(fs::exists(dir_ / "out.h5"));
}

}  // namespace
}  // namespace paceline
