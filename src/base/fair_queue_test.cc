#include "base/fair_queue.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace muster {
namespace {

std::vector<std::string> drain(FairQueue<std::string, std::string>& queue) {
  std::vector<std::string> order;
  while (!queue.empty()) order.push_back(queue.pop());
  return order;
}

TEST(FairQueue, OwnersTakeTurns) {
  FairQueue<std::string, std::string> queue;
  for (const char* item : {"a1", "a2", "a3", "b1", "c1", "c2"})
    queue.push(std::string(1, item[0]), item);
  EXPECT_EQ(queue.size(), 6U);
  EXPECT_EQ(drain(queue), (std::vector<std::string>{"a1", "b1", "c1", "a2", "c2", "a3"}));
}

TEST(FairQueue, WhoComesLateWaitsForOneItemOfEachOther) {
  FairQueue<std::string, std::string> queue;
  for (int i = 0; i < 1'000; ++i) queue.push("crowd", "x");
  EXPECT_EQ(queue.pop(), "x");
  queue.push("late", "mine");
  EXPECT_EQ(queue.pop(), "x");
  EXPECT_EQ(queue.pop(), "mine");
  // Who was served and comes again has no better turn than the first time.
  queue.push("late", "again");
  EXPECT_EQ(queue.pop(), "x");
  EXPECT_EQ(queue.pop(), "again");
  EXPECT_EQ(queue.size(), 997U);
}

TEST(FairQueue, WhatIsPutBackComesBeforeTheRestOfItsOwnerAndAfterTheTurnsOfOthers) {
  FairQueue<std::string, std::string> queue;
  for (const char* item : {"a1", "a2", "b1", "b2"}) queue.push(std::string(1, item[0]), item);
  EXPECT_EQ(queue.pop(), "a1");
  queue.push_front("a", "a1 again");
  queue.push_front("c", "c1");
  EXPECT_EQ(queue.size(), 5U);
  EXPECT_EQ(drain(queue), (std::vector<std::string>{"b1", "a1 again", "c1", "b2", "a2"}));
}

TEST(FairQueue, HoldsWhatCanOnlyBeMoved) {
  FairQueue<int, std::unique_ptr<int>> queue;
  queue.push(1, std::make_unique<int>(7));
  EXPECT_EQ(*queue.pop(), 7);
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace muster
