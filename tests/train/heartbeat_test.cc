#include "train/heartbeat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paceline {
namespace {

using testing::ElementsAre;

class PartlyUnreadable : public Dataset {
 public:
  const DatasetInfo& info() const override { return info_; }
  void read(std::span<const std::uint64_t>, Batch&) const override {}
  std::vector<std::string> unreadable() const override { return files; }

  std::vector<std::string> files;

 private:
  DatasetInfo info_;
};

TEST(UnreadableFiles, EachIsToldOnce) {
  PartlyUnreadable data;
  UnreadableFiles files(data);
  wire::Heartbeat beat;
  files.tell(*beat.mutable_unreadable());
  EXPECT_EQ(beat.unreadable_size(), 0);
  data.files = {"b", "a"};
  files.tell(*beat.mutable_unreadable());
  EXPECT_THAT(beat.unreadable(), ElementsAre("b", "a"));
  data.files.push_back("c");
  beat.Clear();
  files.tell(*beat.mutable_unreadable());
  EXPECT_THAT(beat.unreadable(), ElementsAre("c"));
}

TEST(UnreadableFiles, ManyAreToldInSeveralHeartbeats) {
  PartlyUnreadable data;
  for (int i = 0; i < 1500; ++i) data.files.push_back(std::to_string(i));
  UnreadableFiles files(data);
  wire::Heartbeat first;
  files.tell(*first.mutable_unreadable());
  wire::Heartbeat second;
  files.tell(*second.mutable_unreadable());
  EXPECT_LT(first.unreadable_size(), 1500);
  EXPECT_EQ(first.unreadable_size() + second.unreadable_size(), 1500);
  EXPECT_EQ(second.unreadable(0), std::to_string(first.unreadable_size()));
}

}  // namespace
}  // namespace paceline
