#include "exchange/ps/tickets.h"

#include <gtest/gtest.h>

#include <string>

namespace paceline {
namespace {

TEST(Tickets, BelongToTheirClient) {
  Tickets<std::string> tickets;
  tickets.add(1, 7, "rows");
  ASSERT_NE(tickets.find(1, 7), nullptr);
  EXPECT_EQ(*tickets.find(1, 7), "rows");
  EXPECT_EQ(tickets.find(2, 7), nullptr);
  EXPECT_EQ(tickets.find(1, 8), nullptr);
}

TEST(Tickets, AreGoodForOneUse) {
  Tickets<std::string> tickets;
  tickets.add(1, 7, "rows");
  EXPECT_THROW(tickets.add(1, 7, "others"), FrameError);
  EXPECT_EQ(*tickets.find(1, 7), "rows");
  tickets.forget(1, 7);
  EXPECT_EQ(tickets.find(1, 7), nullptr);
  tickets.forget(1, 7);  // a second time does no harm
}

TEST(Tickets, OfOneClientAreFew) {
  Tickets<int> tickets;
  for (std::uint64_t ticket = 1; ticket <= Tickets<int>::kMost; ++ticket) tickets.add(1, ticket, 0);
  EXPECT_THROW(tickets.add(1, 1000, 0), FrameError);
  EXPECT_EQ(tickets.count(1), Tickets<int>::kMost);
  EXPECT_NO_THROW(tickets.add(2, 1000, 0));
  EXPECT_EQ(tickets.count(2), 1U);
  EXPECT_EQ(tickets.count(3), 0U);
  tickets.forget(1, 1);
  EXPECT_NO_THROW(tickets.add(1, 1000, 0));
}

TEST(Tickets, LeaveWithTheirClient) {
  Tickets<int> tickets;
  tickets.add(1, 7, 0);
  tickets.add(2, 7, 0);
  tickets.forget(1);
  EXPECT_EQ(tickets.find(1, 7), nullptr);
  EXPECT_NE(tickets.find(2, 7), nullptr);
}

}  // namespace
}  // namespace paceline
