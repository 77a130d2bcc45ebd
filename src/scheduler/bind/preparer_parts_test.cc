#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "scheduler/bind/preparer_testing.h"

// What changes while a Preparer waits: objects, pods and nodes, and other parts of the same tree.
namespace muster::scheduler {
namespace {

using PreparerParts = PreparerFixture;
using Told = std::vector<std::string>;

// --- objects

TEST_F(PreparerParts, AVolumeCountsAsTheClaimThatItNames) {
  const api::Kind& volume = *api::find_kind("", "PersistentVolume");
  office_.writes = 0;
  add({"p"});
  office_.progress = {};
  changed(volume, R"({"metadata":{"name":"p"},"spec":{}})");
  changed(volume,
          R"({"metadata":{"name":"v"},"spec":{"claimRef":{"namespace":"ns","name":"other"}}})");
  EXPECT_TRUE(told_.empty());
  changed(volume, R"({"metadata":{"name":"v"},"spec":{"claimRef":{"namespace":"ns","name":"p"}}})");
  EXPECT_EQ(told_, Told{"ready p"});
  claim_changed("p");
  EXPECT_EQ(told_.size(), 1U);
}

// --- pods and nodes

TEST_F(PreparerParts, ALonePodThatHasANodeIsForgotten) {
  for (const char* node : {"n-p", "elsewhere"}) {
    add({"p"});
    preparer_.confirm("uid-p", node, now_);
    EXPECT_TRUE(told_.empty());
    EXPECT_EQ(preparer_.pending(), 0U);
    EXPECT_EQ(preparer_.next_deadline(), std::nullopt);
  }
}

TEST_F(PreparerParts, WhatItDoesNotKnowConcernsNobody) {
  add({"p"});
  preparer_.confirm("uid-nobody", "n-p", now_);
  preparer_.cancel("uid-nobody", now_);
  preparer_.drop("n-nobody", "it is crowded", now_);
  claim_changed("nobody");
  EXPECT_TRUE(told_.empty());
  EXPECT_EQ(preparer_.pending(), 1U);
}

TEST_F(PreparerParts, AMemberThatHasItsNodeChangesNothingAndAnotherNodeEndsItsTree) {
  add({"a", "b"}, true);
  preparer_.confirm("uid-a", "n-a", now_);
  EXPECT_TRUE(told_.empty());
  EXPECT_EQ(preparer_.pending(), 2U);
  preparer_.confirm("uid-a", "elsewhere", now_);
  EXPECT_EQ(told_, Told{"failed b: pod a does not exist any more []"});
  EXPECT_EQ(preparer_.pending(), 0U);
}

TEST_F(PreparerParts, OfSeveralPodsDecidedTogetherNoneIsReadyWithoutTheOthers) {
  add({"a", "b"});
  preparer_.cancel("uid-b", now_);
  EXPECT_EQ(told_, Told{"failed a: pod b does not exist any more []"});
}

TEST_F(PreparerParts, DropsAllThatWasDecidedForANodeAndWhy) {
  add({"a", "b"}, true);
  add({"c"});
  preparer_.drop("n-b", "it is crowded", now_);
  EXPECT_EQ(told_, Told{"failed a+b: it is crowded []"});
  preparer_.drop("n-a", "it is crowded", now_);
  EXPECT_EQ(told_.size(), 1U);
  EXPECT_EQ(preparer_.pending(), 1U);
}

// --- the parts of a tree

TEST_F(PreparerParts, AnEarlierPartGoesOnWhenALaterOneFails) {
  office_.writes = 1;
  add({"a"}, true);
  add({"b"}, true);
  add({"c"}, true);
  api_.refuse(1, Reason::Forbidden, now_);
  EXPECT_EQ(told_, (Told{"failed b: running PreBind plugin \"Office\": stamping: no: Forbidden "
                         "[Office]",
                         "failed c: running PreBind plugin \"Office\": stamping: no: Forbidden "
                         "[Office]"}));
  office_.progress = {};
  api_.accept(0, now_);
  EXPECT_EQ(told_.back(), "ready a");
}

TEST_F(PreparerParts, PartsAreReadyInTheOrderOfDecisions) {
  office_.writes = 1;
  office_.progress = {};
  add({"a"}, true);
  add({"b"}, true);
  add({"c"}, true);
  api_.accept(2, now_);
  api_.accept(1, now_);
  EXPECT_TRUE(told_.empty());
  api_.accept(0, now_);
  EXPECT_EQ(told_, (Told{"ready a", "ready b", "ready c"}));
}

}  // namespace
}  // namespace muster::scheduler
