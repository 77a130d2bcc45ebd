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

}  // namespace
}  // namespace muster::controllers
