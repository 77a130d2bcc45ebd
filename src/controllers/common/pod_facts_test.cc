#include "controllers/common/pod_facts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/json.h"

namespace muster::controllers {
namespace {

using std::chrono::seconds;
const Time kNow{seconds{1'767'225'600}};  // 2026-01-01T00:00:00Z

struct PodText {
  std::string name;
  std::string phase = "Running";
  std::string ready_since = {};  // empty: not ready
  std::string node = "n1";
  std::string cost = {};
  int restarts = 0;
  std::string created = "2025-12-31T00:00:00Z";
};

api::ObjectPtr make_pod(const PodText& text) {
  const std::string ready =
      text.ready_since.empty()
          ? R"({"type":"Ready","status":"False"})"
          : fmt::format(R"({{"type":"Ready","status":"True","lastTransitionTime":"{}"}})",
                        text.ready_since);
  auto json = api::parse_json(fmt::format(
      R"({{"metadata":{{"name":"{0}","uid":"u-{0}","creationTimestamp":"{1}","annotations":{{{2}}}}},
          "spec":{{"nodeName":"{3}"}},
          "status":{{"phase":"{4}","conditions":[{5}],"containerStatuses":[{{"restartCount":{6}}}]}}}})",
      text.name, text.created,
      text.cost.empty()
          ? ""
          : fmt::format(R"("controller.kubernetes.io/pod-deletion-cost":"{}")", text.cost),
      text.node, text.phase, ready, text.restarts));
  EXPECT_TRUE(json) << text.name;
  return api::Object::make(api::kinds::pod(), json->value);
}

// The names in the order they would go.
std::vector<std::string> order(const std::vector<PodText>& texts) {
  RemovalChoice choice{.pods = {}, .related = {}, .count = texts.size() - 1, .now = kNow};
  for (const PodText& text : texts) choice.pods.push_back(make_pod(text));
  choice.related = choice.pods;
  std::vector<std::string> out;
  for (const api::ObjectPtr& pod : choose_for_removal(std::move(choice)))
    out.push_back(pod->meta().name);
  return out;
}

using Names = std::vector<std::string>;

TEST(PodFacts, EachRuleOfRemovalCountsOnlyIfThoseBeforeAreEqual) {
  const std::string noon = "2025-12-31T12:00:00Z";
  EXPECT_EQ(order({{.name = "assigned", .phase = "Pending"}, {.name = "not", .node = ""}}),
            Names{"not"});
  EXPECT_EQ(order({{.name = "running"},
                   {.name = "unknown", .phase = "Unknown"},
                   {.name = "pending", .phase = "Pending"}}),
            (Names{"pending", "unknown"}));
  EXPECT_EQ(
      order({{.name = "ready", .ready_since = noon, .cost = "-5"}, {.name = "not", .cost = "7"}}),
      Names{"not"});
  EXPECT_EQ(order({{.name = "dear", .ready_since = noon, .cost = "10"},
                   {.name = "plain", .ready_since = noon},
                   {.name = "cheap", .ready_since = noon, .cost = "-1"}}),
            (Names{"cheap", "plain"}));
  EXPECT_EQ(order({{.name = "alone", .ready_since = noon, .node = "n2"},
                   {.name = "b", .ready_since = noon},
                   {.name = "a", .ready_since = noon}}),
            (Names{"a", "b"}))
      << "two on one node";
  EXPECT_EQ(order({{.name = "old", .ready_since = noon},
                   {.name = "young", .ready_since = "2025-12-31T23:59:00Z"}}),
            Names{"young"});
  EXPECT_EQ(order({{.name = "calm", .ready_since = noon},
                   {.name = "restless", .ready_since = noon, .restarts = 3}}),
            Names{"restless"});
  EXPECT_EQ(order({{.name = "old", .ready_since = noon, .created = "2025-12-01T00:00:00Z"},
                   {.name = "young", .ready_since = noon}}),
            Names{"young"});
}

TEST(PodFacts, AgesOfOneMagnitudeAreEqual) {
  EXPECT_EQ(order({{.name = "b", .ready_since = "2025-12-31T23:00:00Z"},
                   {.name = "a", .ready_since = "2025-12-31T22:59:00Z"}}),
            Names{"a"})
      << "by uid";
}

TEST(PodFacts, ACostThatIsNoNumberIsNone) {
  EXPECT_EQ(order({{.name = "b", .cost = "9x"}, {.name = "a"}, {.name = "c", .cost = "-1"}}),
            (Names{"c", "a"}));
}

TEST(PodFacts, AvailableAfterBeingReadyForAWhile) {
  const auto ready = make_pod({.name = "a", .ready_since = "2026-01-01T00:00:00Z"});
  EXPECT_EQ(available_at(*ready, seconds{30}), kNow + seconds{30});
  EXPECT_EQ(available_at(*ready, {}), Time{});
  EXPECT_EQ(available_at(*make_pod({.name = "b"}), seconds{30}), std::nullopt);
}

api::ObjectPtr pod_with(std::string_view metadata, std::string_view status) {
  auto json = api::parse_json(
      fmt::format(R"({{"metadata":{{"name":"p"{}}},"status":{{{}}}}})", metadata, status));
  EXPECT_TRUE(json) << metadata << status;
  return api::Object::make(api::kinds::pod(), json->value);
}

TEST(PodFacts, APodIsActiveUntilItEndsOrIsDeleted) {
  constexpr std::string_view kGoing = R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")";
  struct Case {
    std::string_view metadata, phase;
    bool active, terminating;
  };
  for (const Case& c :
       {Case{"", "Running", true, false}, Case{"", "Pending", true, false},
        Case{kGoing, "Running", false, true}, Case{"", "Failed", false, false},
        Case{"", "Succeeded", false, false}, Case{kGoing, "Failed", false, false}}) {
    const auto pod = pod_with(c.metadata, fmt::format(R"("phase":"{}")", c.phase));
    EXPECT_EQ(is_active(*pod), c.active) << c.metadata << c.phase;
    EXPECT_EQ(is_terminating(*pod), c.terminating) << c.metadata << c.phase;
  }
}

TEST(PodFacts, OnlyTheConditionReadySaysWhetherItIs) {
  const auto ready = [](std::string_view conditions) {
    const auto pod = pod_with("", fmt::format(R"("conditions":[{}])", conditions));
    return is_ready(pod->view<api::PodView>());
  };
  EXPECT_TRUE(ready(R"({"type":"Ready","status":"True"})"));
  EXPECT_FALSE(ready(R"({"type":"Ready","status":"Unknown"})"));
  EXPECT_FALSE(ready(R"({"type":"Initialized","status":"True"})"));
  const auto pod = pod_with(
      "",
      R"("conditions":[{"type":"Other","status":"True","lastTransitionTime":"2025-01-01T00:00:00Z"},
             {"type":"Ready","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z"}])");
  EXPECT_EQ(available_at(*pod, seconds{1}), kNow + seconds{1});
  EXPECT_EQ(
      available_at(*pod_with("", R"("conditions":[{"type":"Ready","status":"True"}])"), seconds{1}),
      std::nullopt)
      << "it does not say since when";
}

TEST(PodFacts, WhatDecidesWhoGoesFirst) {
  const RemovalFacts facts =
      removal_facts(*pod_with(R"(,"creationTimestamp":"2025-12-31T00:00:00Z")",
                              R"("phase":"Running","conditions":[{"type":"Ready","status":"False",
         "lastTransitionTime":"2026-01-01T00:00:00Z"}],"containerStatuses":[{"restartCount":2},
         {"restartCount":1}],"initContainerStatuses":[{"restartCount":5}])"));
  EXPECT_FALSE(facts.assigned);
  EXPECT_EQ(facts.phase, 2);
  EXPECT_FALSE(facts.ready);
  EXPECT_EQ(facts.ready_since, std::nullopt);
  EXPECT_EQ(facts.restarts, 5);
  EXPECT_EQ(facts.created, kNow - std::chrono::hours{24});
}

TEST(PodFacts, OfNoMoreThanAreToGoAllGoAsTheyCame) {
  RemovalChoice choice{.pods = {make_pod({.name = "b"}), make_pod({.name = "a"})},
                       .related = {},
                       .count = 2,
                       .now = kNow};
  const auto all = choose_for_removal(choice);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]->meta().name, "b");
  choice.count = 9;
  EXPECT_EQ(choose_for_removal(choice).size(), 2U);
  choice.count = 0;
  EXPECT_EQ(choose_for_removal(choice).size(), 0U);
}

TEST(PodFacts, APodOfTheFutureIsTheYoungest) {
  EXPECT_EQ(order({{.name = "a", .created = "2025-12-31T23:59:59Z"},
                   {.name = "b", .created = "2026-01-01T00:00:01Z"}}),
            Names{"b"});
}

}  // namespace
}  // namespace muster::controllers
