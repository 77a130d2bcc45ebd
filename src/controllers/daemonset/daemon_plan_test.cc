#include "controllers/daemonset/daemon_plan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "controllers/common/testing_texts.h"
#include "controllers/daemonset/daemon_testing.h"

namespace muster::controllers {
namespace {

const Time kNewYear{std::chrono::seconds{1'767'225'600}};  // 2026-01-01T00:00:00Z

struct Scene {
  std::string spec = {};
  std::vector<PodText> pods = {};
  std::vector<api::ObjectPtr> nodes = {make_node("n1"), make_node("n2"), make_node("n3")};
  Time retry_at = {};
  std::string meta = {};
};

DaemonPlan plan(const Scene& scene) {
  const auto set = make_set(scene.spec, "", "{}", 1, scene.meta);
  const DaemonPods pods(*set, "new");
  client::Mirror nodes(
      {.own = [](const api::Object&, std::vector<std::string>& out) { out.emplace_back("all"); }});
  for (const auto& node : scene.nodes) nodes.put(node);
  std::vector<api::ObjectPtr> existing;
  for (const PodText& pod : scene.pods) existing.push_back(make_pod(pod));
  return plan_daemons({.set = *set,
                       .pods = pods,
                       .existing = existing,
                       .nodes = nodes.indexed("all"),
                       .now = kNewYear,
                       .retry_at = [&](const std::string&) { return scene.retry_at; }});
}

Texts removed(const DaemonPlan& plan) {
  Texts out;
  for (const auto& pod : plan.remove) out.push_back(pod->meta().name);
  return out;
}

std::vector<PodText> all(const std::string& hash, bool ready = true) {
  return {{.name = "a", .node = "n1", .hash = hash, .ready = ready},
          {.name = "b", .node = "n2", .hash = hash, .ready = ready},
          {.name = "c", .node = "n3", .hash = hash, .ready = ready}};
}

TEST(DaemonPlan, EveryNodeItIsForGetsAPod) {
  const DaemonPlan made =
      plan({.pods = {{.name = "a"}},
            .nodes = {make_node("n1"), make_node("n2"),
                      make_node("n3", "", R"({"key":"x","effect":"NoSchedule"})")}});
  EXPECT_EQ(made.create, Texts{"n2"});
  EXPECT_EQ(made.status, (api::DaemonSetView::Status{.current = 1,
                                                     .misscheduled = 0,
                                                     .desired = 2,
                                                     .ready = 1,
                                                     .updated = 1,
                                                     .available = 1,
                                                     .unavailable = 1,
                                                     .observed_generation = 2,
                                                     .collisions = std::nullopt}));
}

TEST(DaemonPlan, PodsGoFromNodesItIsNotFor) {
  const auto plain = plan({.pods = {{.name = "a"}},
                           .nodes = {make_node("n1", "", R"({"key":"x","effect":"NoExecute"})")}});
  EXPECT_EQ(removed(plain), Texts{"a"});
  EXPECT_EQ(plain.status.misscheduled, 1);
  EXPECT_EQ(removed(plan({.pods = {{.name = "a"}},
                          .nodes = {make_node("n1", "", R"({"key":"x","effect":"NoSchedule"})")}})),
            Texts{});
  EXPECT_EQ(removed(plan({.pods = {{.name = "a", .node = "gone", .bound = false},
                                   {.name = "b", .node = "gone"}},
                          .nodes = {}})),
            Texts{"a"})
      << "what was bound is somebody else's to clean up";
}

TEST(DaemonPlan, OfSeveralPodsOfANodeTheOldestStays) {
  EXPECT_EQ(
      removed(plan({.pods = {{.name = "young", .made = "2025-12-31T05:00:00Z"},
                             {.name = "old"},
                             {.name = "waiting", .bound = false, .made = "2025-01-01T00:00:00Z"}},
                    .nodes = {make_node("n1")}})),
      (Texts{"young", "waiting"}));
}

TEST(DaemonPlan, PodsThatEndedAreReplacedFailedOnesAfterAPause) {
  const DaemonPlan now = plan({.pods = {{.name = "a", .phase = "Failed"},
                                        {.name = "b", .node = "n2", .phase = "Succeeded"}},
                               .nodes = {make_node("n1"), make_node("n2")}});
  EXPECT_EQ(removed(now), (Texts{"a", "b"}));
  EXPECT_EQ(now.ended.size(), 2U);
  EXPECT_EQ(now.create, Texts{}) << "when the old one is gone";
  const Time later = kNewYear + std::chrono::seconds{4};
  const DaemonPlan soon = plan(
      {.pods = {{.name = "a", .phase = "Failed"}}, .nodes = {make_node("n1")}, .retry_at = later});
  EXPECT_EQ(removed(soon), Texts{});
  EXPECT_EQ(soon.again, later);
}

TEST(DaemonPlan, AnUpdateReplacesAsManyAsMayBeMissing) {
  EXPECT_EQ(removed(plan({.pods = all("old")})), Texts{"a"});
  const std::string two =
      R"(,"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"50%"}})";
  EXPECT_EQ(removed(plan({.spec = two, .pods = all("old")})), (Texts{"a", "b"}))
      << "half of three, rounded up";
  std::vector<PodText> pods = all("old");
  pods[0] = {.name = "a", .node = "n1", .ready = false};
  EXPECT_EQ(removed(plan({.pods = pods})), Texts{}) << "the new one is not available yet";
  pods[0].ready = true;
  EXPECT_EQ(removed(plan({.pods = pods})), Texts{"b"});
}

TEST(DaemonPlan, OldPodsThatDoNotWorkAreReplacedAtOnce) {
  EXPECT_EQ(removed(plan({.pods = all("old", false)})), (Texts{"a", "b", "c"}));
}

TEST(DaemonPlan, OnDeleteReplacesNothingByItself) {
  const DaemonPlan made =
      plan({.spec = R"(,"updateStrategy":{"type":"OnDelete"})", .pods = all("old")});
  EXPECT_EQ(removed(made), Texts{});
  EXPECT_EQ(made.status.updated, 0);
}

TEST(DaemonPlan, WithASurgeTheNewPodComesFirst) {
  const std::string surge =
      R"(,"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1,"maxUnavailable":0}})";
  std::vector<PodText> pods = all("old");
  EXPECT_EQ(plan({.spec = surge, .pods = pods}).create, Texts{"n1"});
  pods.push_back({.name = "new", .node = "n1", .ready = false, .made = "2025-12-31T05:00:00Z"});
  const DaemonPlan waiting = plan({.spec = surge, .pods = pods});
  EXPECT_EQ(waiting.create, Texts{});
  EXPECT_EQ(removed(waiting), Texts{}) << "the old one stays until the new one is available";
  pods.back().ready = true;
  EXPECT_EQ(removed(plan({.spec = surge, .pods = pods})), Texts{"a"});
  pods.back().ready = false;
  pods[0].ready = false;
  EXPECT_EQ(removed(plan({.spec = surge, .pods = pods})), Texts{"a"}) << "it does not work anyway";
}

TEST(DaemonPlan, APodThatIsGoingIsMissingAlready) {
  std::vector<PodText> pods = all("old");
  pods[0].deleted = true;
  EXPECT_EQ(removed(plan({.pods = pods})), Texts{}) << "one at a time";
  const std::string surge =
      R"(,"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1,"maxUnavailable":0}})";
  const DaemonPlan made = plan({.spec = surge, .pods = pods});
  EXPECT_EQ(made.create, Texts{"n1"}) << "two may be there at once";
  EXPECT_EQ(removed(made), Texts{});
}

TEST(DaemonPlan, AvailableAfterAWhile) {
  const DaemonPlan made = plan(
      {.spec = R"(,"minReadySeconds":90000)", .pods = {{.name = "a"}}, .nodes = {make_node("n1")}});
  EXPECT_EQ(made.status.ready, 1);
  EXPECT_EQ(made.status.available, 0);
  EXPECT_EQ(made.again, kNewYear + std::chrono::seconds{90000 - 86400});
}

TEST(DaemonPlan, AvailableFromTheMomentItWasReadyForLongEnough) {
  // Ready since a day ago.
  const auto available = [](int seconds) {
    return plan({.spec = fmt::format(R"(,"minReadySeconds":{})", seconds),
                 .pods = {{.name = "a"}},
                 .nodes = {make_node("n1")}})
        .status.available;
  };
  EXPECT_EQ(available(86'400), 1);
  EXPECT_EQ(available(86'401), 0);
}

TEST(DaemonPlan, WhoIsBeingDeletedOnlyCounts) {
  const DaemonPlan made = plan({.pods = {{.name = "a", .node = "n1", .hash = "old"},
                                         {.name = "b", .node = "n1"},
                                         {.name = "c", .node = "gone", .bound = false}},
                                .meta = R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")"});
  EXPECT_EQ(made.create, Texts{});
  EXPECT_EQ(removed(made), Texts{});
  EXPECT_EQ(made.status.desired, 3);
  EXPECT_EQ(made.status.current, 1);
}

TEST(DaemonPlan, CountsTheOnePodOfANodeThatCounts) {
  const DaemonPlan made = plan(
      {.pods = {{.name = "young", .made = "2025-12-31T05:00:00Z"},
                {.name = "old", .hash = "old", .ready = false},
                {.name = "astray", .node = "n2", .ready = false}},
       .nodes = {make_node("n1"), make_node("n2", "", R"({"key":"x","effect":"NoSchedule"})")}});
  EXPECT_EQ(made.status, (api::DaemonSetView::Status{.current = 1,
                                                     .misscheduled = 1,
                                                     .desired = 1,
                                                     .ready = 0,
                                                     .updated = 0,
                                                     .available = 0,
                                                     .unavailable = 1,
                                                     .observed_generation = 2,
                                                     .collisions = std::nullopt}));
}

TEST(DaemonPlan, OfPodsOfOneAgeTheFirstByNameStays) {
  EXPECT_EQ(removed(plan({.pods = {{.name = "b"}, {.name = "a"}, {.name = "c"}},
                          .nodes = {make_node("n1")}})),
            (Texts{"b", "c"}));
}

TEST(DaemonPlan, WithoutASurgeTheOldestStaysWhateverItsTemplate) {
  EXPECT_EQ(removed(plan({.pods = {{.name = "old", .hash = "old"},
                                   {.name = "new", .ready = false, .made = "2025-12-31T05:00:00Z"}},
                          .nodes = {make_node("n1")}})),
            Texts{"new"});
}

TEST(DaemonPlan, OneLookMakesAndDeletesAFewHundredPods) {
  Scene scene;
  scene.nodes.clear();
  for (int i = 0; i < 300; ++i) scene.nodes.push_back(make_node(fmt::format("n{}", i)));
  EXPECT_EQ(plan(scene).create.size(), 250U);
  for (int i = 0; i < 300; ++i)
    scene.pods.push_back(
        {.name = fmt::format("p{}", i), .node = fmt::format("n{}", i), .phase = "Succeeded"});
  EXPECT_EQ(plan(scene).remove.size(), 250U);
}

TEST(DaemonPlan, WhatIsMissingComesBeforeAnUpdate) {
  std::vector<PodText> pods = all("old");
  pods.pop_back();
  const DaemonPlan made = plan({.pods = pods});
  EXPECT_EQ(made.create, Texts{"n3"});
  EXPECT_EQ(removed(made), Texts{});
}

TEST(DaemonPlan, ANodeWithTwoOldPodsCountsAsMissingOne) {
  std::vector<PodText> pods = all("old");
  pods.push_back({.name = "a2", .node = "n1", .hash = "old", .phase = "Failed"});
  EXPECT_EQ(removed(plan({.pods = pods, .retry_at = kNewYear + std::chrono::seconds{1}})), Texts{})
      << "one at a time, and that is one";
}

TEST(DaemonPlan, AFailedPodIsReplacedWhenItsPauseHasPassed) {
  const Scene scene{
      .pods = {{.name = "a", .phase = "Failed"}}, .nodes = {make_node("n1")}, .retry_at = kNewYear};
  EXPECT_EQ(removed(plan(scene)), Texts{"a"});
  EXPECT_EQ(plan(scene).again, std::nullopt);
  // It looks again at what comes first.
  EXPECT_EQ(plan({.spec = R"(,"minReadySeconds":86405)",
                  .pods = {{.name = "a", .phase = "Failed"}, {.name = "b", .node = "n2"}},
                  .nodes = {make_node("n1"), make_node("n2")},
                  .retry_at = kNewYear + std::chrono::seconds{9}})
                .again,
            kNewYear + std::chrono::seconds{5});
}

constexpr std::string_view kSurge =
    R"(,"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1,"maxUnavailable":0}})";

TEST(DaemonPlan, WithASurgeANodeWhosePodIsGoingGetsTheNextAtOnce) {
  const Scene scene{.pods = {{.name = "a", .deleted = true}}, .nodes = {make_node("n1")}};
  EXPECT_EQ(plan(scene).create, Texts{}) << "without one it waits";
  Scene surging = scene;
  surging.spec = kSurge;
  EXPECT_EQ(plan(surging).create, Texts{"n1"});
  surging.pods[0].phase = "Failed";
  EXPECT_EQ(plan(surging).create, Texts{}) << "it has ended and will be gone at once";
  surging.pods[0].phase = "Running";
  surging.nodes = {make_node("n1", "", R"({"key":"x","effect":"NoSchedule"})")};
  EXPECT_EQ(plan(surging).create, Texts{}) << "none should run there";
}

TEST(DaemonPlan, WithASurgeANodeHasOnePodOfEachTemplate) {
  const auto on_n1 = [](std::vector<PodText> pods) {
    return removed(
        plan({.spec = std::string(kSurge), .pods = std::move(pods), .nodes = {make_node("n1")}}));
  };
  EXPECT_EQ(on_n1({{.name = "a"}, {.name = "b"}}), Texts{"b"});
  EXPECT_EQ(on_n1({{.name = "a", .hash = "old"}, {.name = "b", .hash = "old"}}), Texts{"b"});
  EXPECT_EQ(on_n1({{.name = "a", .hash = "old"},
                   {.name = "b", .hash = "old"},
                   {.name = "new", .ready = false}}),
            Texts{"b"});
}

TEST(DaemonPlan, NoMoreNodesSurgeThanAllowedButForThoseWhosePodDoesNotWork) {
  std::vector<PodText> pods = all("old");
  pods.push_back({.name = "new", .node = "n2", .ready = false, .made = "2025-12-31T05:00:00Z"});
  EXPECT_EQ(plan({.spec = std::string(kSurge), .pods = pods}).create, Texts{});
  pods[0].ready = false;
  EXPECT_EQ(plan({.spec = std::string(kSurge), .pods = pods}).create, Texts{"n1"});
  const std::string two =
      R"(,"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":2,"maxUnavailable":0}})";
  EXPECT_EQ(plan({.spec = two, .pods = all("old")}).create, (Texts{"n1", "n2"}));
}

}  // namespace
}  // namespace muster::controllers
