#include "server/loopback/loopback.h"

#include "server/core/testing/core_fixture.h"

namespace muster::server {
namespace {

using client::Event;

class LoopbackTest : public CoreTest {
 protected:
  explicit LoopbackTest(watch::Limits limits = {})
      : CoreTest(store::make_memory_engine(), limits) {}

  // "+a ~b -c", and "(…)" around it until the initial objects are complete.
  static std::string polled(client::Feed& feed, std::size_t max = 100) {
    std::vector<Event> events;
    const client::Feed::Poll poll = feed.poll(events, max);
    std::string out;
    for (const Event& event : events) {
      constexpr std::string_view kSigns = "+~-";
      out += (out.empty() ? "" : " ");
      out += kSigns[static_cast<std::size_t>(event.type)] + event.object->meta().name;
    }
    return poll.synced ? out : "(" + out + ")";
  }

  LoopbackClient client_{server_, {.name = "system:kube-scheduler", .groups = {}}};
  int wakes_ = 0;
};

TEST_F(LoopbackTest, AFeedTellsWhatIsThereThenWhatHappens) {
  ASSERT_TRUE(create_pod("a"));
  const auto feed = client_.watch(pods(), [this] { ++wakes_; });
  EXPECT_EQ(polled(*feed), "+a");
  EXPECT_EQ(polled(*feed), "");
  EXPECT_EQ(wakes_, 0);
  ASSERT_TRUE(create_pod("b"));
  EXPECT_EQ(wakes_, 1);
  ASSERT_TRUE(bind("a", "n1"));
  ASSERT_TRUE(remove(pods(), "default", "b"));
  EXPECT_EQ(polled(*feed), "+b ~a -b");
}

TEST_F(LoopbackTest, ObjectsAreTheVeryOnesTheServerStored) {
  const auto feed = client_.watch(pods(), [] {});
  ASSERT_TRUE(create_pod("a"));
  std::vector<Event> events;
  feed->poll(events, 10);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].object, store_->get("pods/default/a"));
}

TEST_F(LoopbackTest, TheInitialBlockMayComeInParts) {
  for (const std::string_view name : {"a", "b", "c"}) ASSERT_TRUE(create_pod(name));
  const auto feed = client_.watch(pods(), [] {});
  EXPECT_EQ(polled(*feed, 2), "(+a +b)");
  EXPECT_EQ(polled(*feed, 2), "+c");
}

TEST_F(LoopbackTest, AnEmptyKindIsSyncedAtOnce) {
  const auto feed = client_.watch(pods(), [] {});
  EXPECT_EQ(polled(*feed), "");
}

TEST_F(LoopbackTest, WakesEndWithTheFeed) {
  auto feed = client_.watch(pods(), [this] { ++wakes_; });
  feed.reset();
  ASSERT_TRUE(create_pod("a"));
  EXPECT_EQ(wakes_, 0);
}

TEST_F(LoopbackTest, RequestsGoTheWayOfAllOthers) {
  std::optional<client::Outcome> outcome;
  const auto done = [&](client::Outcome o) { outcome = std::move(o); };
  client_.send(client::create_request(pods(), "default", api::parse_json(pod_json("a"))->value),
               done);
  registry_.flush();
  ASSERT_TRUE(outcome && *outcome) << message(*outcome);
  const api::ObjectPtr pod = std::get<api::ObjectAnswer>((*outcome)->what).object;

  client_.send(client::bind_request(*pod, "n1"), done);
  registry_.flush();
  ASSERT_TRUE(*outcome) << message(*outcome);
  EXPECT_EQ(at(get(pods(), "default", "a"), "spec.nodeName"), "n1");

  client_.send(client::patch_request(pods(), "default", "a", "status", PatchType::StrategicMerge,
                                     api::parse_json(R"({"status":{"phase":"Running"}})")->value),
               done);
  registry_.flush();
  EXPECT_EQ(at(*outcome, "status.phase"), "Running");

  client_.send(client::delete_request(*pod, 0), done);
  registry_.flush();
  ASSERT_TRUE(*outcome) << message(*outcome);
  EXPECT_EQ(reason(get(pods(), "default", "a")), Reason::NotFound);

  client_.send(client::create_request(pods(), "default", api::JsonObject{{"spec", 7}}), done);
  EXPECT_EQ(reason(*outcome), Reason::BadRequest);
}

class SmallWindowLoopbackTest : public LoopbackTest {
 protected:
  SmallWindowLoopbackTest() : LoopbackTest({.changes_max = 2, .bytes_max = 1U << 20U}) {}
};

TEST_F(SmallWindowLoopbackTest, AfterAGapTheDifferencesAreTold) {
  for (const std::string_view name : {"kept", "changed", "gone", "reborn"})
    ASSERT_TRUE(create_pod(name));
  const auto feed = client_.watch(pods(), [] {});
  EXPECT_EQ(polled(*feed), "+changed +gone +kept +reborn");

  ASSERT_TRUE(remove(pods(), "default", "gone"));
  ASSERT_TRUE(remove(pods(), "default", "reborn"));
  ASSERT_TRUE(create_pod("reborn"));
  ASSERT_TRUE(bind("changed", "n1"));
  ASSERT_TRUE(create_pod("new"));
  EXPECT_EQ(polled(*feed), "~changed +new -reborn +reborn -gone");
  ASSERT_TRUE(bind("kept", "n1"));
  EXPECT_EQ(polled(*feed), "~kept");
}

}  // namespace
}  // namespace muster::server
