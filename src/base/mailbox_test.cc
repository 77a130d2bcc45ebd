#include "base/mailbox.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace muster {
namespace {

TEST(Mailbox, RefusesWhenFullAndDeliversInOrder) {
  Mailbox<int> mailbox(2);
  EXPECT_TRUE(mailbox.try_push(1));
  EXPECT_TRUE(mailbox.try_push(2));
  EXPECT_FALSE(mailbox.try_push(3));
  std::vector<int> got;
  EXPECT_TRUE(mailbox.pop_all(got));
  EXPECT_EQ(got, (std::vector<int>{1, 2}));
  EXPECT_TRUE(mailbox.try_push(3));
}

TEST(Mailbox, ARefusedMessageIsUntouched) {
  Mailbox<std::pair<std::string, std::unique_ptr<int>>> mailbox(0);
  std::string text = "a text that is too long to be kept inside the string";
  auto number = std::make_unique<int>(7);
  EXPECT_FALSE(mailbox.try_push(std::move(text), std::move(number)));
  // NOLINTBEGIN(bugprone-use-after-move): that nothing has moved is what is promised.
  EXPECT_EQ(text, "a text that is too long to be kept inside the string");
  EXPECT_NE(number, nullptr);
  // NOLINTEND(bugprone-use-after-move)
}

TEST(Mailbox, ClosedDeliversWhatIsLeftThenEnds) {
  Mailbox<int> mailbox(2);
  EXPECT_TRUE(mailbox.try_push(1));
  mailbox.close();
  EXPECT_FALSE(mailbox.try_push(2));
  std::vector<int> got;
  EXPECT_TRUE(mailbox.pop_all(got));
  EXPECT_FALSE(mailbox.pop_all(got));
}

TEST(Mailbox, WaitsForASender) {
  Mailbox<int> mailbox(1000);
  std::thread sender([&] {
    for (int i = 0; i < 1000; ++i)
      while (!mailbox.try_push(int{i})) std::this_thread::yield();
    mailbox.close();
  });
  std::vector<int> all, got;
  while (mailbox.pop_all(got)) all.insert(all.end(), got.begin(), got.end());
  sender.join();
  ASSERT_EQ(all.size(), 1000U);
  EXPECT_EQ(all.back(), 999);
}

TEST(Mailbox, WhoseOwnerHasNoPatienceGivesWhatThereIs) {
  Mailbox<int> mailbox(2);
  std::vector<int> got{7};
  EXPECT_TRUE(mailbox.pop_all(got, Duration{0})) << "it is open";
  EXPECT_EQ(got, std::vector<int>{}) << "what was there before is not a message";
  EXPECT_TRUE(mailbox.try_push(1));
  EXPECT_TRUE(mailbox.pop_all(got, std::chrono::hours{1}));
  EXPECT_EQ(got, std::vector<int>{1});
  mailbox.close();
  EXPECT_FALSE(mailbox.pop_all(got, std::chrono::hours{1}));
  EXPECT_EQ(got, std::vector<int>{});
}

TEST(Mailbox, ThatIsClosedWakesItsOwner) {
  Mailbox<int> mailbox(1);
  std::vector<int> got;
  std::thread owner([&] { EXPECT_FALSE(mailbox.pop_all(got)); });
  mailbox.close();
  owner.join();
}

}  // namespace
}  // namespace muster
