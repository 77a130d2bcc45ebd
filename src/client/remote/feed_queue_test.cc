#include "client/remote/feed_queue.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace muster::client {
namespace {

api::ObjectPtr node(std::string_view name, std::string_view uid, std::string_view rack = "") {
  return api::Object::make(
      api::kinds::node(),
      api::JsonObject{{"metadata", api::JsonObject{{"name", name},
                                                   {"uid", uid},
                                                   {"labels", api::JsonObject{{"rack", rack}}}}}});
}

// "+a:1 ~b:2 -c:3": what happened to which name, and the rack it shows.
std::string polled(FeedQueue& queue) {
  std::vector<Event> events;
  queue.poll(events, 1'000'000);
  std::string out;
  for (const Event& event : events) {
    if (event.object->meta().name == "filler") continue;
    constexpr std::string_view kSigns = "+~-";
    out += fmt::format(
        "{}{}{}:{}", out.empty() ? "" : " ", kSigns[static_cast<std::size_t>(event.type)],
        event.object->meta().name,
        event.object->meta().labels.empty() ? "" : event.object->meta().labels.begin()->second);
  }
  return out;
}

constexpr auto kAdded = Event::Type::Added;
constexpr auto kModified = Event::Type::Modified;
constexpr auto kDeleted = Event::Type::Deleted;

TEST(FeedQueueTest, HandsOverInOrderAndIsSyncedWhenEmpty) {
  int wakes = 0;
  FeedQueue queue([&] { ++wakes; });
  queue.push({kAdded, node("a", "1")});
  queue.push({kAdded, node("b", "2")});
  EXPECT_EQ(wakes, 0);
  queue.announce();
  queue.announce();
  EXPECT_EQ(wakes, 1) << "once for all that came together";
  queue.set_synced();
  EXPECT_EQ(wakes, 2);
  std::vector<Event> events;
  Feed::Poll poll = queue.poll(events, 1);
  EXPECT_FALSE(poll.synced);
  EXPECT_TRUE(poll.more);
  poll = queue.poll(events, 1);
  EXPECT_TRUE(poll.synced);
  EXPECT_FALSE(poll.more);
}

TEST(FeedQueueTest, NothingWakesAfterClose) {
  int wakes = 0;
  FeedQueue queue([&] { ++wakes; });
  queue.close();
  queue.push({kAdded, node("a", "1")});
  queue.announce();
  queue.set_synced();
  EXPECT_EQ(wakes, 0);
  EXPECT_TRUE(queue.closed());
}

TEST(FeedQueueTest, WhatWaitsForLongIsMergedByObject) {
  FeedQueue queue([] {});
  queue.push({kModified, node("old", "1", "1")});
  queue.push({kAdded, node("brief", "2")});
  queue.push({kAdded, node("new", "3", "1")});
  queue.push({kModified, node("new", "3", "2")});
  queue.push({kDeleted, node("brief", "2")});
  queue.push({kDeleted, node("old", "1", "1")});
  queue.push({kAdded, node("old", "4", "2")});
  const api::ObjectPtr filler = node("filler", "5");
  for (std::size_t i = 7; i < FeedQueue::kCompactAt; ++i) queue.push({kModified, filler});
  EXPECT_EQ(polled(queue), "-old:1 +new:2 +old:2");
}

TEST(FeedQueueTest, ManyDifferentObjectsAreNotMergedAgainAndAgain) {
  FeedQueue queue([] {});
  const std::size_t count = FeedQueue::kCompactAt + 10;
  for (std::size_t i = 0; i < count; ++i) queue.push({kAdded, node("filler", std::to_string(i))});
  std::vector<Event> events;
  queue.poll(events, count + 10);
  EXPECT_EQ(events.size(), count);
}

TEST(FeedQueueTest, WhatIsSyncedIsAnnouncedOnce) {
  int wakes = 0;
  FeedQueue queue([&] { ++wakes; });
  queue.push({kAdded, node("a", "1")});
  queue.set_synced();
  EXPECT_EQ(wakes, 1);
  queue.announce();
  EXPECT_EQ(wakes, 1) << "nothing has come since";
  queue.push({kModified, node("a", "1")});
  queue.announce();
  EXPECT_EQ(wakes, 2);
}

TEST(FeedQueueTest, ThatIsClosedHoldsNothing) {
  FeedQueue queue([] {});
  EXPECT_FALSE(queue.closed());
  queue.push({kAdded, node("a", "1")});
  queue.close();
  queue.push({kAdded, node("b", "2")});
  EXPECT_EQ(polled(queue), "");
}

TEST(FeedQueueTest, ChangesAreMergedAtTheBoundAndNotBefore) {
  FeedQueue queue([] {});
  const api::ObjectPtr one = node("one", "1");
  const auto waiting = [&](std::size_t pushes) {
    for (std::size_t i = 0; i < pushes; ++i) queue.push({kModified, one});
    std::vector<Event> events;
    queue.poll(events, 1'000'000);
    return events.size();
  };
  EXPECT_EQ(waiting(FeedQueue::kCompactAt - 1), FeedQueue::kCompactAt - 1);
  EXPECT_EQ(waiting(FeedQueue::kCompactAt), 1U);
}

}  // namespace
}  // namespace muster::client
