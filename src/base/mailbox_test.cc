#include "base/mailbox.h"

#include <gtest/gtest.h>

#include <thread>

namespace muster {
namespace {

TEST(Mailbox, RefusesWhenFullAndDeliversInOrder) {
  Mailbox<int> mailbox(2);
  EXPECT_TRUE(mailbox.push(1));
  EXPECT_TRUE(mailbox.push(2));
  EXPECT_FALSE(mailbox.push(3));
  std::vector<int> got;
  EXPECT_TRUE(mailbox.take(got));
  EXPECT_EQ(got, (std::vector<int>{1, 2}));
  EXPECT_TRUE(mailbox.push(3));
}

TEST(Mailbox, ClosedDeliversWhatIsLeftThenEnds) {
  Mailbox<int> mailbox(2);
  EXPECT_TRUE(mailbox.push(1));
  mailbox.close();
  EXPECT_FALSE(mailbox.push(2));
  std::vector<int> got;
  EXPECT_TRUE(mailbox.take(got));
  EXPECT_FALSE(mailbox.take(got));
}

TEST(Mailbox, WaitsForASender) {
  Mailbox<int> mailbox(1000);
  std::thread sender([&] {
    for (int i = 0; i < 1000; ++i)
      while (!mailbox.push(int{i})) std::this_thread::yield();
    mailbox.close();
  });
  std::vector<int> all, got;
  while (mailbox.take(got)) all.insert(all.end(), got.begin(), got.end());
  sender.join();
  ASSERT_EQ(all.size(), 1000U);
  EXPECT_EQ(all.back(), 999);
}

}  // namespace
}  // namespace muster
