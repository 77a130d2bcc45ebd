#include "client/kit/feeds.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "client/kit/fake_api_testing.h"

namespace muster::client {
namespace {

using Events = std::deque<Event>;

// Hands over what the test has put in.
class FakeFeed final : public Feed {
 public:
  explicit FakeFeed(Events& events) : events_(events) {}
  Poll poll(std::vector<Event>& out, std::size_t max) override {
    for (; max > 0 && !events_.empty(); --max) {
      out.push_back(std::move(events_.front()));
      events_.pop_front();
    }
    return {.synced = events_.empty(), .more = !events_.empty()};
  }

 private:
  Events& events_;
};

class FakeClient final : public Client {
 public:
  void send(api::Request /*request*/, Done /*done*/) override {}
  std::unique_ptr<Feed> watch(const api::Kind& kind, std::function<void()> /*wake*/) override {
    return std::make_unique<FakeFeed>(events[&kind]);
  }

  std::map<const api::Kind*, Events> events;
};

// Writes down what it is given: names, tickets, and a dot for Synced.
class Scribe final : public Component {
 public:
  void apply(Input input, Time /*now*/) override {
    if (const auto* event = std::get_if<Event>(&input))
      seen += event->object->meta().name;
    else if (const auto* called = std::get_if<Called>(&input))
      seen += std::to_string(called->ticket);
    else
      seen += ".";
  }
  std::size_t run_once(Time /*now*/, std::size_t /*limit*/) override { return 0; }
  std::optional<Time> next_deadline() const override { return std::nullopt; }
  std::vector<const api::Kind*> watched_kinds() const override {
    return {&api::kinds::pod(), &api::kinds::node()};
  }

  std::string seen;
};

class FeedsTest : public ::testing::Test {
 protected:
  void happen(const api::Kind& kind, std::string_view names) {
    for (const char name : names)
      client_.events[&kind].push_back({Event::Type::Added, make_pod(std::string(1, name))});
  }
  // What one poll applies, if it is stopped after `inputs`; "+" if there is more.
  std::string poll(std::size_t inputs, std::size_t events_max = 100) {
    scribe_.seen.clear();
    std::size_t left = inputs;
    const Feeds::Round round =
        feeds_.poll(scribe_, Time{}, events_max, [&] { return --left == 0; });
    EXPECT_EQ(round.applied, !scribe_.seen.empty());
    return scribe_.seen + (round.more ? "+" : "");
  }

  FakeClient client_;
  Scribe scribe_;
  Feeds feeds_{client_, scribe_, [] {}};
};

TEST_F(FeedsTest, HandOverEachKindInTurnThenSayThatAllIsThere) {
  happen(api::kinds::pod(), "abc");
  happen(api::kinds::node(), "x");
  EXPECT_EQ(poll(100), "abcx.");
  EXPECT_EQ(poll(100), "");
}

TEST_F(FeedsTest, ThatAreStoppedGoOnWithTheNextKindAndLoseNothing) {
  happen(api::kinds::pod(), "abc");
  happen(api::kinds::node(), "xy");
  EXPECT_EQ(poll(1), "a+");
  EXPECT_EQ(poll(1), "x+");
  EXPECT_EQ(poll(3), "bcy+");
  EXPECT_EQ(poll(1), ".");
  EXPECT_EQ(poll(1), "");
}

// What exists is complete when it was applied, not when it was taken from a feed.
TEST_F(FeedsTest, ThatAreStoppedAreNotSyncedBeforeTheLastEvent) {
  happen(api::kinds::node(), "xyz");
  for (const std::string_view step : {"x+", "y+", "z+", "."}) EXPECT_EQ(poll(1), step);
}

// The wake for it was used up by the poll that was stopped.
TEST_F(FeedsTest, WhatComesWhileSomethingIsLeftIsNotMissed) {
  happen(api::kinds::pod(), "ab");
  EXPECT_EQ(poll(1), "a+");
  happen(api::kinds::pod(), "c");
  EXPECT_EQ(poll(100), "bc.");
}

TEST_F(FeedsTest, AKindWithManyEventsDelaysOthersByOneRound) {
  std::string all;
  for (int i = 0; i < 3; ++i) {
    happen(api::kinds::pod(), "aaaaaaaaaa");  // they come faster than they are applied
    happen(api::kinds::node(), "x");
    poll(2, 4);
    all += scribe_.seen + " ";
  }
  EXPECT_EQ(all, "aa xx aa ");
}

TEST(Deliver, GivesOutcomesInOrderUntilItIsStopped) {
  Scribe scribe;
  std::deque<Called> outcomes;
  for (std::uint64_t ticket = 1; ticket <= 5; ++ticket) outcomes.push_back({ticket, api::Answer{}});
  EXPECT_TRUE(deliver(outcomes, scribe, Time{}, [&] { return scribe.seen.size() == 2; }));
  EXPECT_EQ(scribe.seen, "12");
  EXPECT_FALSE(deliver(outcomes, scribe, Time{}, [] { return false; }));
  EXPECT_EQ(scribe.seen, "12345");
}

}  // namespace
}  // namespace muster::client
