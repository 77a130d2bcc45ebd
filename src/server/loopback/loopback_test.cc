#include "server/loopback/loopback.h"

#include <fmt/format.h>

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

TEST_F(LoopbackTest, RequestsAreCountedAsThoseOverHttpAre) {
  const auto meter = std::make_shared<RequestMeter>();
  LoopbackClient counted(server_, {.name = "system:kube-scheduler", .groups = {}}, meter);
  const auto ignore = [](const client::Outcome&) {};
  const auto send = [&](api::Request request) {
    counted.send(std::move(request), ignore);
    registry_.flush();
  };
  send(client::create_request(pods(), "default", api::parse_json(pod_json("a"))->value));
  const api::ObjectPtr pod = store_->get("pods/default/a");
  ASSERT_NE(pod, nullptr);
  send(client::bind_request(*pod, "n1"));
  send(client::bind_request(*pod, "n2"));
  send(client::create_request(pods(), "default", api::JsonObject{{"spec", 7}}));
  const std::string text = meter->text();
  const auto count = [&](std::string_view code, std::string_view scope, std::string_view sub) {
    const std::string line = fmt::format(
        R"(apiserver_request_total{{code="{}",component="apiserver",dry_run="",group="",)"
        R"(resource="pods",scope="{}",subresource="{}",verb="POST",version="v1"}} )",
        code, scope, sub);
    const std::size_t at = text.find(line);
    return at == std::string::npos ? '-' : text[at + line.size()];
  };
  EXPECT_EQ(count("201", "namespace", ""), '1') << text;
  EXPECT_EQ(count("201", "resource", "binding"), '1') << text;
  EXPECT_EQ(count("409", "resource", "binding"), '1') << text;
  EXPECT_EQ(count("400", "namespace", ""), '1') << "one that was never understood counts too";
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

TEST_F(SmallWindowLoopbackTest, TheDifferencesMayComeInParts) {
  for (const std::string_view name : {"a", "b", "c"}) ASSERT_TRUE(create_pod(name));
  const auto feed = client_.watch(pods(), [] {});
  EXPECT_EQ(polled(*feed), "+a +b +c");
  for (const std::string_view name : {"a", "b", "c"}) ASSERT_TRUE(remove(pods(), "default", name));
  EXPECT_EQ(polled(*feed, 2), "(-a -b)");
  EXPECT_EQ(polled(*feed, 2), "-c");
  EXPECT_EQ(polled(*feed, 2), "");
}

TEST_F(LoopbackTest, ComponentsAskAsWhoTheyAre) {
  api::Request asked = request(Verb::Delete, pods(), "default", "a");
  asked.user = {.name = "somebody else", .groups = {"system:masters"}};
  std::string who;
  const Server spying(reader_, [&](Request& request, Reply&) {
    who = request.user.name;
    return true;
  });
  LoopbackClient client(spying, {.name = "system:kube-scheduler", .groups = {}});
  client.send(std::move(asked), [](const client::Outcome&) {});
  EXPECT_EQ(who, "system:kube-scheduler");
}

}  // namespace
}  // namespace muster::server
