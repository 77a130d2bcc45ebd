#include "base/check.h"

#include <gtest/gtest.h>

#include <string>

#include "base/entropy.h"
#include "base/fair_queue.h"

namespace muster {
namespace {

TEST(CheckDeathTest, SaysWhereWhatAndWhy) {
  CHECK(1 + 1 == 2);
  EXPECT_DEATH(CHECK(1 + 1 == 3), "check_test\\.cc:[0-9]+: CHECK failed: 1 \\+ 1 == 3\n");
  const std::string who = "pod a";
  EXPECT_DEATH(CHECK_THAT(who.empty(), "{} is counted twice", who),
               "CHECK failed: who\\.empty\\(\\): pod a is counted twice\n");
}

TEST(CheckDeathTest, WhatMakesNoSenseEndsTheProcess) {
  SeededEntropy entropy(1);
  EXPECT_DEATH(static_cast<void>(entropy.below(0)), "CHECK failed");
  FairQueue<int, int> queue;
  EXPECT_DEATH(queue.pop(), "nothing waits");
}

}  // namespace
}  // namespace muster
