#include "train/heartbeat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/frame.h"

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

// Names are bytes: a message with others would not be read at all.
TEST(UnreadableFiles, NeedNotHaveNamesOfText) {
  PartlyUnreadable data;
  data.files = {"caf\xe9.jpg"};
  UnreadableFiles files(data);
  wire::Heartbeat beat;
  files.tell(*beat.mutable_unreadable());
  files.tell(*beat.mutable_unreadable_tests());
  beat.add_unreadable_tests("\xff");
  wire::Heartbeat read;
  ASSERT_TRUE(read.ParseFromString(beat.SerializeAsString()));
  EXPECT_THAT(read.unreadable(), ElementsAre("caf\xe9.jpg"));
  EXPECT_THAT(read.unreadable_tests(), ElementsAre("\xff"));
}

TEST(UnreadableFiles, LongNamesAreToldInSeveralHeartbeats) {
  PartlyUnreadable data;
  for (int i = 0; i < 300; ++i) data.files.push_back(std::string(4000, 'a') + std::to_string(i));
  UnreadableFiles files(data);
  std::size_t told = 0;
  for (int beats = 0; told < 300 && beats < 100; ++beats) {
    wire::Heartbeat beat;
    files.tell(*beat.mutable_unreadable());
    EXPECT_LT(beat.SerializeAsString().size(), kMaxMetaBytes / 2);
    told += static_cast<std::size_t>(beat.unreadable_size());
  }
  EXPECT_EQ(told, 300U);
}

TEST(UnreadableFiles, ManyAreToldInSeveralHeartbeats) {
  PartlyUnreadable data;
  for (int i = 0; i < 15'000; ++i) data.files.push_back(std::to_string(10'000 + i));
  UnreadableFiles files(data);
  wire::Heartbeat first;
  files.tell(*first.mutable_unreadable());
  wire::Heartbeat second;
  files.tell(*second.mutable_unreadable());
  EXPECT_LT(first.unreadable_size(), 15'000);
  EXPECT_EQ(first.unreadable_size() + second.unreadable_size(), 15'000);
  EXPECT_EQ(second.unreadable(0), std::to_string(10'000 + first.unreadable_size()));
}

}  // namespace
}  // namespace paceline
