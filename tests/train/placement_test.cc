#include "train/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/process.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<unsigned> kCores = {2, 3, 5, 7, 11};

TEST(Placement, WorkersDivideTheCores) {
  std::vector<unsigned> taken;
  for (std::uint64_t worker = 0; worker < 2; ++worker) {
    const Placement placement = place_worker(kCores, 5, worker, 2, 0);
    EXPECT_EQ(placement.threads, placement.cores.size());
    taken.insert(taken.end(), placement.cores.begin(), placement.cores.end());
  }
  EXPECT_EQ(taken, kCores);
  EXPECT_EQ(place_worker(kCores, 5, 0, 1, 0).cores, kCores);
}

TEST(Placement, MoreWorkersThanCoresShareThem) {
  const Placement placement = place_worker(kCores, 5, 5, 6, 0);
  EXPECT_THAT(placement.cores, IsEmpty());
  EXPECT_EQ(placement.threads, 1U);
}

TEST(Placement, ThereAreNeverMoreThreadsThanCores) {
  EXPECT_EQ(place_worker(kCores, 5, 0, 2, 3).threads, 3U);
  EXPECT_EQ(place_worker(kCores, 5, 0, 2, 100).threads, 5U);
  EXPECT_EQ(place_worker(kCores, 5, 0, 9, 100).threads, 5U);
}

TEST(Placement, WorkersDivideTheTimeOfAQuotaAndAreNotPinned) {
  EXPECT_THAT(place_worker(kCores, 4, 0, 2, 0).cores, IsEmpty());
  EXPECT_EQ(place_worker(kCores, 4, 0, 2, 0).threads, 2U);
  EXPECT_EQ(place_worker(kCores, 3, 0, 2, 0).threads, 2U);
  EXPECT_EQ(place_worker(kCores, 3, 1, 2, 0).threads, 1U);
  EXPECT_EQ(place_worker(kCores, 1, 1, 2, 0).threads, 1U);
  EXPECT_EQ(place_worker(kCores, 3, 0, 1, 100).threads, 3U);
}

TEST(Placement, OnHostsOnlyTheWorkersOfTheSameHostShare) {
  RunConfig config;
  config.workers = 2;
  config.hosts = "10.77.0.1; 10.77.0.2";
  for (const char* name : {"worker0", "worker1"}) {
    EXPECT_EQ(place_worker(config, name).cores, available_core_numbers()) << name;
  }
}

TEST(Placement, APinnedThreadStaysOnItsCores) {
  const std::vector<unsigned> all = available_core_numbers();
  RunConfig config;
  std::vector<unsigned> pinned, left_alone;
  std::thread([&] {
    config.pin = false;
    take_place(config, {{all.back()}, 1});
    left_alone = available_core_numbers();
    config.pin = true;
    take_place(config, {{all.back()}, 1});
    pinned = available_core_numbers();
  }).join();
  EXPECT_EQ(left_alone, all);
  EXPECT_THAT(pinned, ElementsAre(all.back()));
}

}  // namespace
}  // namespace paceline
