#include "controllers/deployment/deployment_plan.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/entropy.h"
#include "controllers/common/testing_texts.h"
#include "controllers/deployment/deployment_testing.h"

namespace muster::controllers {
namespace {

TEST(DeploymentPlan, TheFirstSetIsMadeAtItsFullSize) {
  const DeploymentPlan plan = plan_deployment(*make_deployment({}), {}, kNow);
  EXPECT_EQ(changes(plan), Texts{"new=3"});
  EXPECT_EQ(plan.create->annotations,
            (Annotations{{"deployment.kubernetes.io/desired-replicas", "3"},
                         {"deployment.kubernetes.io/max-replicas", "4"},
                         {"deployment.kubernetes.io/revision", "1"}}));
}

TEST(DeploymentPlan, PercentagesAreRoundedUpForTheSurgeAndDownForWhatMayBeMissing) {
  for (const auto& [replicas, surge, missing] : std::vector<std::tuple<int, int, int>>{
           {1, 1, 0}, {3, 1, 0}, {4, 1, 1}, {5, 2, 1}, {10, 3, 2}}) {
    const auto deployment =
        make_deployment({.replicas = replicas, .spec = rolling(R"("25%")", R"("25%")")});
    EXPECT_EQ(max_surge(deployment->view<api::DeploymentView>()), surge) << replicas;
    EXPECT_EQ(max_unavailable(deployment->view<api::DeploymentView>()), missing) << replicas;
  }
  const auto none = make_deployment({.replicas = 3, .spec = rolling(R"("0%")", R"("10%")")});
  EXPECT_EQ(max_unavailable(none->view<api::DeploymentView>()), 1) << "or nothing would ever move";
  const auto all = make_deployment({.replicas = 3, .spec = rolling("0", "5")});
  EXPECT_EQ(max_unavailable(all->view<api::DeploymentView>()), 3);
}

TEST(DeploymentPlan, ANewTemplateGrowsWithinTheSurgeWhileOldPodsStay) {
  const auto deployment =
      make_deployment({.replicas = 10, .image = "v2", .spec = rolling("2", "3")});
  const auto old =
      make_set({.name = "old", .replicas = 10, .available = 10, .annotations = sized(10, 12)});
  const DeploymentPlan plan = plan_deployment(*deployment, {old}, kNow);
  EXPECT_EQ(changes(plan), (Texts{"old=7", "new=2"})) << "three may be missing at once";
  EXPECT_EQ(plan.create->annotations.at("deployment.kubernetes.io/revision"), "2");
}

TEST(DeploymentPlan, OldPodsThatDoNotWorkGoFirst) {
  const auto deployment =
      make_deployment({.replicas = 4, .image = "v3", .spec = rolling("1", "0")});
  const DeploymentPlan plan = plan_deployment(*deployment,
                                              {make_set({.name = "new",
                                                         .image = "v3",
                                                         .replicas = 1,
                                                         .available = 1,
                                                         .annotations = sized(4, 5, 3),
                                                         .created = "2025-12-31T02:00:00Z"}),
                                               make_set({.name = "broken",
                                                         .image = "v2",
                                                         .replicas = 2,
                                                         .available = 0,
                                                         .annotations = sized(4, 5, 2),
                                                         .created = "2025-12-31T01:00:00Z"}),
                                               make_set({.name = "good",
                                                         .image = "v1",
                                                         .replicas = 2,
                                                         .available = 2,
                                                         .annotations = sized(4, 5, 1)})},
                                              kNow);
  EXPECT_EQ(changes(plan), Texts{"broken=1"}) << "5 pods, at least 4 wanted, all new ones work";
}

TEST(DeploymentPlan, OldPodsStayForAsManyNewOnesAsDoNotWorkYet) {
  const auto plan = [](std::int64_t new_available) {
    return changes(plan_deployment(
        *make_deployment({.replicas = 4, .image = "v2", .spec = rolling("1", "0")}),
        {make_set({.name = "old", .replicas = 4, .available = 2, .annotations = sized(4, 5)}),
         make_set({.name = "new",
                   .image = "v2",
                   .replicas = 1,
                   .available = new_available,
                   .annotations = sized(4, 5, 2),
                   .created = "2025-12-31T01:00:00Z"})},
        kNow));
  };
  EXPECT_EQ(plan(0), Texts{}) << "not even those that do not work: they may yet";
  EXPECT_EQ(plan(1), Texts{"old=3"});
}

TEST(DeploymentPlan, RecreateWaitsUntilAllOldPodsAreGone) {
  const std::string recreate = R"(,"strategy":{"type":"Recreate"})";
  const auto deployment = make_deployment({.image = "v2", .spec = recreate});
  SetText old{.name = "old", .replicas = 3, .available = 3, .annotations = sized(3, 3)};
  EXPECT_EQ(changes(plan_deployment(*deployment, {make_set(old)}, kNow)), Texts{"old=0"});
  old.replicas = 0;
  old.available = 0;
  old.pods = 2;
  EXPECT_EQ(changes(plan_deployment(*deployment, {make_set(old)}, kNow)), Texts{})
      << "two are still counted";
  old.pods = 0;
  old.terminating = 1;
  EXPECT_EQ(changes(plan_deployment(*deployment, {make_set(old)}, kNow)), Texts{})
      << "one is still ending";
  old.terminating = 0;
  old.generation = 2;
  EXPECT_EQ(changes(plan_deployment(*deployment, {make_set(old)}, kNow)), Texts{})
      << "its counts are older than its size";
  old.generation = 1;
  EXPECT_EQ(changes(plan_deployment(*deployment, {make_set(old)}, kNow)), Texts{"new=3"});
}

TEST(DeploymentPlan, RecreateBringsAnEarlierSetBackAtItsFullSize) {
  const auto deployment =
      make_deployment({.image = "v1", .spec = R"(,"strategy":{"type":"Recreate"})"});
  const auto back =
      make_set({.name = "a", .image = "v1", .replicas = 0, .annotations = sized(3, 3)});
  SetText other{.name = "b",
                .image = "v2",
                .replicas = 3,
                .available = 3,
                .annotations = sized(3, 3, 2),
                .created = "2025-12-31T01:00:00Z"};
  const auto sizes = [&] {
    const DeploymentPlan plan = plan_deployment(*deployment, {back, make_set(other)}, kNow);
    Texts out;
    for (const auto& change : plan.changes)
      if (change.replicas != change.set->view<api::ReplicaSetView>().replicas)
        out.push_back(fmt::format("{}={}", change.set->meta().name, change.replicas));
    return out;
  };
  EXPECT_EQ(sizes(), Texts{"b=0"});
  other.replicas = 0;
  other.available = 0;
  EXPECT_EQ(sizes(), Texts{"a=3"});
}

TEST(DeploymentPlan, ADeploymentThatIsResizedDuringARolloutSharesTheChangeInProportion) {
  // 10 + 3 pods in the middle of a rollout; scaled to 15 + 3: five more, by size.
  const auto deployment =
      make_deployment({.replicas = 15, .image = "v2", .spec = rolling("3", "2")});
  const auto old =
      make_set({.name = "old", .replicas = 8, .available = 8, .annotations = sized(10, 13)});
  const auto next = make_set({.name = "next",
                              .image = "v2",
                              .replicas = 5,
                              .available = 0,
                              .annotations = sized(10, 13, 2),
                              .created = "2025-12-31T01:00:00Z"});
  EXPECT_EQ(changes(plan_deployment(*deployment, {old, next}, kNow)), (Texts{"old=11", "next=7"}));
  // and back down to 5 + 3
  const auto smaller = make_deployment({.replicas = 5, .image = "v2", .spec = rolling("3", "2")});
  EXPECT_EQ(changes(plan_deployment(*smaller, {old, next}, kNow)), (Texts{"old=5", "next=3"}));
  const auto none = make_deployment({.replicas = 0, .image = "v2", .spec = rolling("3", "2")});
  EXPECT_EQ(changes(plan_deployment(*none, {old, next}, kNow)), (Texts{"old=0", "next=0"}));
}

TEST(DeploymentPlan, APausedDeploymentScalesButDoesNotRollOut) {
  const auto paused = make_deployment({.replicas = 5, .image = "v2", .spec = R"(,"paused":true)"});
  const auto old =
      make_set({.name = "old", .replicas = 3, .available = 3, .annotations = sized(3, 4)});
  EXPECT_EQ(changes(plan_deployment(*paused, {old}, kNow)), Texts{"old=5"});
}

TEST(DeploymentPlan, APausedDeploymentGivesItsPodsToTheNewestSet) {
  const auto paused = [](const std::string& image) {
    return make_deployment({.image = image, .spec = R"(,"paused":true)"});
  };
  const auto set = [](const std::string& image, std::int64_t replicas, std::int64_t available) {
    return make_set({.name = image,
                     .image = image,
                     .replicas = replicas,
                     .available = available,
                     .annotations = sized(3, 4, image == "v1" ? 1 : 2),
                     .created = image == "v1" ? "2025-12-31T00:00:00Z" : "2025-12-31T01:00:00Z"});
  };
  const auto plan = [&](const std::string& image, const std::vector<api::ObjectPtr>& sets) {
    return changes(plan_deployment(*paused(image), sets, kNow));
  };
  EXPECT_EQ(plan("v2", {set("v1", 1, 1), set("v2", 3, 3)}), Texts{"v1=0"}) << "it has them all";
  EXPECT_EQ(plan("v2", {set("v1", 1, 1), set("v2", 3, 2)}), Texts{}) << "not yet";
  EXPECT_EQ(plan("v1", {set("v1", 0, 0), set("v2", 0, 0)}), Texts{"v1=3"}) << "of the template";
  EXPECT_EQ(plan("v3", {set("v1", 0, 0), set("v2", 0, 0)}), Texts{"v2=3"}) << "the youngest";
}

TEST(DeploymentPlan, ASetThatWasScaledByHandIsBroughtBackAndTheRolloutGoesOn) {
  const auto deployment =
      make_deployment({.replicas = 5, .image = "v2", .spec = rolling("1", "1")});
  const auto old =
      make_set({.name = "old", .replicas = 5, .available = 5, .annotations = sized(3, 4)});
  const DeploymentPlan plan = plan_deployment(*deployment, {old}, kNow);
  EXPECT_EQ(changes(plan), Texts{"old=5"}) << "only its annotations";
  const auto said =
      make_set({.name = "old", .replicas = 5, .available = 5, .annotations = sized(5, 6)});
  EXPECT_EQ(changes(plan_deployment(*deployment, {said}, kNow)), (Texts{"old=4", "new=1"}));
}

TEST(DeploymentPlan, WhoIsBeingDeletedOnlyCounts) {
  const auto deployment =
      make_deployment({.replicas = 9, .meta = R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")"});
  const DeploymentPlan plan =
      plan_deployment(*deployment, {make_set({.name = "a", .available = 2})}, kNow);
  EXPECT_EQ(changes(plan), Texts{});
  EXPECT_EQ(plan.status.available, 2);
}

TEST(DeploymentPlan, TheNewestSetGetsTheTimeThatMakesItsPodsAvailable) {
  const auto deployment = make_deployment({.image = "v2", .spec = R"(,"minReadySeconds":7)"});
  const DeploymentPlan plan =
      plan_deployment(*deployment,
                      {make_set({.name = "old", .replicas = 0, .annotations = sized(3, 4)}),
                       make_set({.name = "new",
                                 .image = "v2",
                                 .available = 3,
                                 .annotations = sized(3, 4, 2),
                                 .created = "2025-12-31T01:00:00Z"})},
                      kNow);
  ASSERT_EQ(changes(plan), Texts{"new=3"});
  EXPECT_TRUE(plan.changes[0].min_ready);
  const DeploymentPlan resized =
      plan_deployment(*make_deployment({.replicas = 5}),
                      {make_set({.name = "a", .available = 3, .annotations = sized(3, 4)})}, kNow);
  ASSERT_EQ(changes(resized), Texts{"a=5"});
  EXPECT_FALSE(resized.changes[0].min_ready);
  EXPECT_EQ(resized.changes[0].annotations,
            (Annotations{{"deployment.kubernetes.io/desired-replicas", "5"},
                         {"deployment.kubernetes.io/max-replicas", "7"}}));
}

TEST(DeploymentPlan, ASetWithoutPodsDoesNotMeanThatTheDeploymentWasResized) {
  const auto deployment = make_deployment({.image = "v2", .spec = rolling("1", "0")});
  EXPECT_EQ(changes(plan_deployment(
                *deployment,
                {make_set({.name = "a", .replicas = 0, .annotations = sized(9, 12)}),
                 make_set({.name = "b", .available = 3, .annotations = sized(3, 4, 2)}),
                 make_set({.name = "c", .replicas = 0})},
                kNow)),
            Texts{"new=1"})
      << "the rollout goes on";
}

// Whatever the numbers, and in whatever order pods become available: never too many, never too few
// because of us, and it ends.
TEST(DeploymentPlan, EveryRolloutStaysWithinItsBoundsAndEnds) {
  SeededEntropy entropy(7);
  for (int run = 0; run < 300; ++run) {
    const int replicas = static_cast<int>(entropy.below(12));
    const int surge = static_cast<int>(entropy.below(4));
    const int missing =
        surge == 0 ? 1 + static_cast<int>(entropy.below(4)) : static_cast<int>(entropy.below(4));
    const auto deployment =
        make_deployment({.replicas = replicas,
                         .image = "v2",
                         .spec = rolling(std::to_string(surge), std::to_string(missing))});
    struct Set {
      std::int64_t wanted = 0, available = 0;
    };
    std::map<std::string, Set> sets{{"old", {replicas, replicas}}};
    const std::int64_t least = std::max(0, replicas - missing);
    bool done = false;
    for (int step = 0; step < 200 && !done; ++step) {
      std::vector<api::ObjectPtr> objects;
      for (const auto& [name, set] : sets)
        objects.push_back(
            make_set({.name = name,
                      .image = name == "old" ? "v1" : "v2",
                      .replicas = set.wanted,
                      .available = set.available,
                      .annotations = sized(replicas, replicas + surge, name == "old" ? 1 : 2),
                      .created = name == "old" ? "2025-12-31T00:00:00Z" : "2025-12-31T01:00:00Z"}));
      const DeploymentPlan plan = plan_deployment(*deployment, objects, kNow);
      for (const auto& change : plan.changes)
        sets[change.set->meta().name].wanted = change.replicas;
      if (plan.create) sets["new"].wanted = plan.create->replicas;
      std::int64_t wanted = 0;
      std::int64_t available = 0;
      for (auto& [name, set] : sets) {
        set.available = std::min(set.available, set.wanted);
        wanted += set.wanted;
        available += set.available;
      }
      ASSERT_LE(wanted, replicas + surge) << "run " << run;
      ASSERT_GE(available, least) << "run " << run;
      if (Set& set = sets["new"]; set.available < set.wanted)
        set.available += 1 + static_cast<std::int64_t>(entropy.below(
                                 static_cast<std::uint64_t>(set.wanted - set.available)));
      done = sets["old"].wanted == 0 && sets["new"].available == replicas;
    }
    ASSERT_TRUE(done) << "run " << run << ": " << replicas << " replicas, surge " << surge
                      << ", missing " << missing;
  }
}

}  // namespace
}  // namespace muster::controllers
