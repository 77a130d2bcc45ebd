#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "scheduler/bind/preparer_testing.h"

// What a Preparer does step by step: permits, several writes, and how it tells what failed.
namespace muster::scheduler {
namespace {

using client::make_pod;
using std::chrono::milliseconds;
using std::chrono::seconds;
using PreparerSteps = PreparerFixture;
using Told = std::vector<std::string>;
using Indexes = std::vector<std::size_t>;

// --- writes

TEST_F(PreparerSteps, ProgressIsAskedOnceAllWritesAreThere) {
  office_.progress = {};
  add({"p"});
  ASSERT_EQ(api_.sent.size(), 2U);
  EXPECT_EQ(api_.sent[0].request.name, "p-0");
  EXPECT_EQ(api_.sent[1].request.name, "p-1");
  api_.accept(1, now_);
  claim_changed("p");
  EXPECT_EQ(office_.asked, 0);
  EXPECT_TRUE(told_.empty());
  api_.accept(0, now_);
  EXPECT_EQ(office_.written, (Indexes{1, 0}));
  EXPECT_EQ(told_, Told{"ready p"});
}

TEST_F(PreparerSteps, AWriteThatABusyServerRefusedIsMadeAgain) {
  office_.progress = {};
  add({"p"});
  api_.accept(0, now_);
  api_.refuse(1, Reason::TooManyRequests, now_);
  EXPECT_EQ(preparer_.next_deadline(), now_ + milliseconds{10});
  pass(milliseconds{9});
  EXPECT_EQ(api_.sent.size(), 2U);
  pass(milliseconds{1});
  ASSERT_EQ(api_.sent.size(), 3U);
  EXPECT_EQ(api_.sent[2].request.name, "p-1");
  api_.refuse(2, Reason::TooManyRequests, now_);
  EXPECT_EQ(preparer_.next_deadline(), now_ + milliseconds{50}) << "more rarely each time";
  pass(milliseconds{50});
  api_.accept(3, now_);
  EXPECT_EQ(office_.written, (Indexes{0, 1}));
  EXPECT_EQ(told_, Told{"ready p"});
}

TEST_F(PreparerSteps, WithoutWritesProgressIsAskedAtOnce) {
  office_.writes = 0;
  office_.progress = {};
  add({"p"});
  EXPECT_EQ(told_, Told{"ready p"});
}

TEST_F(PreparerSteps, AWriteThatIsRefusedNamesWhatItWasFor) {
  add({"p"});
  api_.refuse(0, Reason::Forbidden, now_);
  EXPECT_EQ(told_, Told{"failed p: running PreBind plugin \"Office\": stamping: no: Forbidden "
                        "[Office]"});
  api_.accept(1, now_);
  pass(seconds{60});
  EXPECT_EQ(told_.size(), 1U);
  EXPECT_EQ(preparer_.next_deadline(), std::nullopt);
}

TEST_F(PreparerSteps, WhatTakesTooLongNamesWhatItWasFor) {
  add({"p"});
  EXPECT_EQ(preparer_.next_deadline(), now_ + seconds{60});
  pass(seconds{60});
  EXPECT_EQ(told_, Told{"failed p: running PreBind plugin \"Office\": stamping: context deadline "
                        "exceeded [Office]"});
}

// Only the watch tells that something has come true; the writes are not made again.
TEST_F(PreparerSteps, WhatIsWaitedForIsNotAskedByTheClock) {
  office_.writes = 1;
  add({"p"});
  const Time end = now_ + seconds{60};
  api_.accept(0, now_);
  EXPECT_EQ(preparer_.next_deadline(), end);
  pass(seconds{10});
  EXPECT_EQ(api_.sent.size(), 1U);
  EXPECT_EQ(office_.asked, 1);
}

TEST_F(PreparerSteps, AWriteOfAPodThatIsGoneIsNotMadeAgain) {
  add({"p"});
  api_.refuse(0, Reason::TooManyRequests, now_);
  preparer_.cancel("uid-p", now_);
  pass(seconds{60});
  EXPECT_EQ(api_.sent.size(), 2U);
  EXPECT_TRUE(told_.empty());
}

TEST_F(PreparerSteps, TheFirstOfATreeThatFailsFailsItOnce) {
  office_.writes = 0;
  office_.progress = {Progress::State::Failed, "no luck"};
  add({"a", "b"}, true);
  EXPECT_EQ(told_, Told{"failed a+b: running PreBind plugin \"Office\": no luck [Office]"});
  EXPECT_EQ(office_.asked, 1);
}

// --- permits

TEST_F(PreparerSteps, ARefusedPermitIsNoError) {
  profile_.add<Doorkeeper>(1, &office_);
  office_.permit = {Progress::State::Failed, "node(s) were closed"};
  std::vector<bool> permits;
  preparer_.observe_permits([&](bool is_allowed, Duration) { permits.push_back(is_allowed); });
  add({"p"});
  EXPECT_EQ(told_, Told{"refused p: 0/1 nodes are available: 1 node(s) were closed. [Doorkeeper]"});
  EXPECT_TRUE(api_.sent.empty());
  EXPECT_TRUE(permits.empty()) << "it did not wait";
}

TEST_F(PreparerSteps, APermitThatWaitsIsAskedEverySecondAndMayStillBeRefused) {
  profile_.add<Doorkeeper>(1, &office_);
  office_.permit = {Progress::State::Waits, {}};
  std::vector<std::pair<bool, Duration>> permits;
  preparer_.observe_permits(
      [&](bool is_allowed, Duration waited) { permits.emplace_back(is_allowed, waited); });
  add({"p"});
  EXPECT_EQ(preparer_.next_deadline(), now_ + seconds{1});
  pass(seconds{1});
  EXPECT_EQ(preparer_.next_deadline(), now_ + seconds{1});
  office_.permit = {Progress::State::Failed, "node(s) were closed"};
  pass(seconds{1});
  EXPECT_EQ(told_, Told{"refused p: 0/1 nodes are available: 1 node(s) were closed. [Doorkeeper]"});
  EXPECT_EQ(permits, (std::vector<std::pair<bool, Duration>>{{false, seconds{2}}}));
}

TEST_F(PreparerSteps, ThePermitOfEachPodOfATreeIsNeeded) {
  profile_.add<Doorkeeper>(1, &office_);
  office_.permit = {Progress::State::Waits, {}};
  office_.admitted = "plain-a";
  add({"plain-a", "plain-b"}, true);
  pass(seconds{1});
  EXPECT_TRUE(told_.empty());
  office_.permit = {};
  pass(seconds{1});
  EXPECT_EQ(told_, Told{"ready plain-a+plain-b"});
}

TEST_F(PreparerSteps, APermitThatTimesOutIsARefusalOfItsPlugin) {
  profile_.add<Doorkeeper>(1, &office_);
  office_.permit = {Progress::State::Waits, {}};
  add({"p"});
  pass(seconds{10});
  EXPECT_EQ(told_, Told{"refused p: 0/1 nodes are available: 1 rejected due to timeout after "
                        "waiting 10s at plugin Doorkeeper. [Doorkeeper]"});
}

// The time that a permit took is not taken from the writes.
TEST_F(PreparerSteps, PatienceBeginsWithTheWrites) {
  profile_.add<Doorkeeper>(1, &office_);
  office_.permit = {Progress::State::Waits, {}};
  add({"p"});
  for (int i = 0; i < 5; ++i) pass(seconds{1});
  office_.permit = {};
  pass(seconds{1});
  ASSERT_EQ(api_.sent.size(), 2U);
  EXPECT_EQ(preparer_.next_deadline(), now_ + seconds{60});
  pass(seconds{59});
  EXPECT_TRUE(told_.empty());
}

TEST_F(PreparerSteps, EveryPodWithAPermitConcernsIt) {
  const std::vector<Assignment> plain{{make_pod("plain"), "n1"}};
  EXPECT_FALSE(preparer_.concerns(plain, nullptr, profile_of_));
  profile_.add<Doorkeeper>(1, &office_);
  EXPECT_TRUE(preparer_.concerns(plain, nullptr, profile_of_));
}

TEST_F(PreparerSteps, SoDoesEveryPodOfATreeThatHasAnEarlierPart) {
  const std::vector<Assignment> plain{{make_pod("plain"), "n1"}};
  const GroupKey key = root();
  EXPECT_FALSE(preparer_.concerns(plain, &key, profile_of_));
  add({"a"}, true);
  EXPECT_TRUE(preparer_.concerns(plain, &key, profile_of_));
  const GroupKey other{GroupKind::PodGroup, "ns", "other"};
  EXPECT_FALSE(preparer_.concerns(plain, &other, profile_of_));
  preparer_.cancel("uid-a", now_);
  EXPECT_FALSE(preparer_.concerns(plain, &key, profile_of_));
}

}  // namespace
}  // namespace muster::scheduler
