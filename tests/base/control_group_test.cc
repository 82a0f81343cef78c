#include "base/control_group.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "base/process.h"
#include "base/temp_dir.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMegabyte = 1'000'000;

// A root folder with the files that a kernel would show there.
class ControlGroupTest : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    const fs::path file = root_.path() / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void mount_version_1(const std::string& controller, const std::string& top = "/") {
    mounts_ += "32 31 0:29 " + top + " /sys/fs/cgroup/" + controller + " rw,relatime shared:9 - " +
               "cgroup cgroup rw," + controller + "\n";
    write("proc/self/mountinfo", mounts_);
  }
  void mount_version_2(const std::string& top = "/") {
    mounts_ += "41 31 0:38 " + top + " /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw\n";
    write("proc/self/mountinfo", mounts_);
  }
  ControlGroup read() const { return read_control_group(root_.path()); }

  TempDir root_;
  std::string mounts_;
};

TEST_F(ControlGroupTest, WithoutGroupsNothingIsLimited) {
  EXPECT_FALSE(read().cores);
  EXPECT_FALSE(read().memory_left);
}

TEST_F(ControlGroupTest, Version1LimitsByTheGroupOfTheProcess) {
  write("proc/self/cgroup", "4:memory:/slurm/job7\n1:cpu,cpuacct:/slurm/job7\n0::/\n");
  mount_version_1("memory");
  mount_version_1("cpu");
  write("sys/fs/cgroup/memory/slurm/job7/memory.limit_in_bytes", "300000000\n");
  write("sys/fs/cgroup/memory/slurm/job7/memory.usage_in_bytes", "120000000\n");
  write("sys/fs/cgroup/memory/slurm/job7/memory.stat",
        "cache 50000000\ntotal_cache 50000000\ntotal_inactive_file 20000000\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/cpu/slurm/job7/cpu.cfs_quota_us", "250000\n");
  write("sys/fs/cgroup/cpu/slurm/job7/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(read().memory_left, 200 * kMegabyte);
  EXPECT_EQ(read().cores, 2.5);
}

TEST_F(ControlGroupTest, Version2LimitsByTheGroupOfTheProcess) {
  write("proc/self/cgroup", "0::/user.slice/app\n");
  mount_version_2();
  write("sys/fs/cgroup/user.slice/app/memory.max", "300000000\n");
  write("sys/fs/cgroup/user.slice/app/memory.current", "120000000\n");
  write("sys/fs/cgroup/user.slice/app/memory.stat", "anon 1\ninactive_file 20000000\n");
  write("sys/fs/cgroup/user.slice/app/cpu.max", "50000 100000\n");
  EXPECT_EQ(read().memory_left, 200 * kMegabyte);
  EXPECT_EQ(read().cores, 0.5);
}

TEST_F(ControlGroupTest, GroupsAroundItLimitItAsWell) {
  write("proc/self/cgroup", "0::/a/b/c\n");
  mount_version_2();
  write("sys/fs/cgroup/a/b/c/memory.max", "max\n");
  write("sys/fs/cgroup/a/b/c/cpu.max", "400000 100000\n");
  write("sys/fs/cgroup/a/memory.max", "70000000\n");
  write("sys/fs/cgroup/a/memory.current", "0\n");
  write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/cpu.max", "300000 100000\n");
  EXPECT_EQ(read().memory_left, 70 * kMegabyte);
  EXPECT_EQ(read().cores, 3);
}

TEST_F(ControlGroupTest, InAContainerTheTopIsItsOwnGroup) {
  write("proc/self/cgroup", "0::/kubepods/pod9/app\n");
  mount_version_2("/kubepods/pod9");
  write("sys/fs/cgroup/memory.max", "80000000\n");
  write("sys/fs/cgroup/app/memory.max", "50000000\n");
  EXPECT_EQ(read().memory_left, 50 * kMegabyte);
  // Without a namespace for groups the path is that of the host, and lies elsewhere.
  write("proc/self/cgroup", "0::/docker/1234\n");
  EXPECT_EQ(read().memory_left, 80 * kMegabyte);
}

TEST_F(ControlGroupTest, WhatIsUsedBeyondTheLimitLeavesNothing) {
  write("proc/self/cgroup", "0::/\n");
  mount_version_2();
  write("sys/fs/cgroup/memory.max", "50000000\n");
  write("sys/fs/cgroup/memory.current", "60000000\n");
  EXPECT_EQ(read().memory_left, 0U);
}

// A group of this kernel's own, of version 1, that a child of this process enters.
class ControlGroupAsRoot : public ::testing::Test {
 protected:
  ControlGroupAsRoot() : name_("paceline-test-" + std::to_string(::getpid())) {}
  ~ControlGroupAsRoot() override {
    for (const std::string controller : {"memory", "cpu"}) ::rmdir(folder(controller).c_str());
  }

  std::string folder(const std::string& controller) const {
    return "/sys/fs/cgroup/" + controller + "/" + name_;
  }
  // Returns whether this kernel has the file to write to.
  bool set(const std::string& controller, const std::string& file, const std::string& value) {
    ::mkdir(folder(controller).c_str(), 0755);
    std::ofstream out(folder(controller) + "/" + file);
    out << value << std::flush;
    return out.good();
  }
  // What `holds` says in a process that is in the group.
  template <typename Holds>
  bool inside(const std::string& controller, const Holds& holds) {
    const pid_t child = ::fork();
    if (child == 0) {
      std::ofstream(folder(controller) + "/cgroup.procs") << ::getpid() << std::flush;
      ::_exit(holds() ? 0 : 1);
    }
    return await_end(child).ok();
  }

  std::string name_;
};

TEST_F(ControlGroupAsRoot, LimitsMemory) {
  ASSERT_TRUE(set("memory", "memory.limit_in_bytes", "200000000"));
  EXPECT_TRUE(inside("memory", [] {
    const std::uint64_t left = available_memory();
    return left > 50 * kMegabyte && left <= 200 * kMegabyte;
  }));
  EXPECT_GT(available_memory(), 200 * kMegabyte);
}

TEST_F(ControlGroupAsRoot, LimitsTheTimeOfCores) {
  ASSERT_TRUE(set("cpu", "cpu.cfs_quota_us", "100000"));
  EXPECT_TRUE(inside("cpu", [] { return available_cores() == 1; }));
}

}  // namespace
}  // namespace paceline
