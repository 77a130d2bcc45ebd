#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "controllers/deployment/deployment_plan.h"
#include "controllers/deployment/deployment_testing.h"

namespace muster::controllers {
namespace {

TEST(DeploymentPlan, HistoryBeyondItsLimitGoesOldestRevisionFirst) {
  const auto deployment = make_deployment(
      {.image = "v4",
       .spec = R"(,"revisionHistoryLimit":1)",
       .status =
           R"({"replicas":3,"updatedReplicas":3,"availableReplicas":3,"observedGeneration":1})"});
  const auto newest =
      make_set({.name = "d", .image = "v4", .available = 3, .annotations = sized(3, 4, 4)});
  const auto first =
      make_set({.name = "z", .image = "v1", .replicas = 0, .annotations = sized(3, 4, 1)});
  const auto busy = make_set(
      {.name = "b", .image = "v2", .replicas = 0, .pods = 1, .annotations = sized(3, 4, 2)});
  const auto third =
      make_set({.name = "a", .image = "v3", .replicas = 0, .annotations = sized(3, 4, 3)});
  EXPECT_EQ(changes(plan_deployment(*deployment, {newest, first, busy, third}, kNow)),
            Texts{"remove z"})
      << "of two to go one still has a pod";
}

TEST(DeploymentPlan, RollingBackGivesTheOldSetANewRevision) {
  const auto deployment =
      make_deployment({.image = "v1", .annotations = R"("deployment.kubernetes.io/revision":"2")"});
  const auto first =
      make_set({.name = "a", .image = "v1", .replicas = 0, .annotations = sized(3, 4, 1)});
  const auto second = make_set(
      {.name = "b", .image = "v2", .replicas = 3, .available = 3, .annotations = sized(3, 4, 2)});
  const DeploymentPlan plan = plan_deployment(*deployment, {first, second}, kNow);
  EXPECT_EQ(plan.revision, 3);
  ASSERT_EQ(changes(plan), Texts{"a=1"});
  EXPECT_EQ(plan.changes[0].annotations.at("deployment.kubernetes.io/revision-history"), "1");
}

TEST(DeploymentPlan, TheNewestSetHasTheGreatestRevisionAndItsDeploymentSaysIt) {
  const auto plan = [](int ours, int oldest, std::string_view said) {
    return plan_deployment(
        *make_deployment(
            {.image = "v2",
             .annotations = fmt::format(R"("deployment.kubernetes.io/revision":"{}")", said)}),
        {make_set({.name = "old", .replicas = 0, .annotations = sized(3, 4, oldest)}),
         make_set({.name = "new",
                   .image = "v2",
                   .available = 3,
                   .annotations = sized(3, 4, ours),
                   .created = "2025-12-31T01:00:00Z"})},
        kNow);
  };
  EXPECT_EQ(plan(5, 2, "5").revision, std::nullopt);
  EXPECT_EQ(changes(plan(5, 2, "5")), Texts{}) << "nothing is to be done";
  EXPECT_EQ(plan(5, 2, "3").revision, 5);
  EXPECT_EQ(plan(2, 2, "2").revision, 3) << "two sets do not share one";
  EXPECT_EQ(plan(2, 2, "2").changes.at(0).annotations.at("deployment.kubernetes.io/revision"), "3");
}

TEST(DeploymentPlan, OnlyWhatIsDoneOrPausedForgetsItsHistory) {
  struct Case {
    std::string spec = R"(,"revisionHistoryLimit":0)";
    std::string status =
        R"({"replicas":3,"updatedReplicas":3,"availableReplicas":3,"observedGeneration":1})";
    SetText old = {.name = "old", .replicas = 0, .annotations = sized(3, 4)};
    std::int64_t wanted = 3;
    Texts want = {};
    std::string name;
  };
  std::vector<Case> cases{
      {.want = {"remove old"}, .name = "done"},
      {.status = R"({"replicas":3,"updatedReplicas":3,"availableReplicas":2})", .name = "not yet"},
      {.spec = R"(,"revisionHistoryLimit":0,"paused":true)",
       .status = "{}",
       .want = {"remove old"},
       .name = "paused"},
      {.spec = R"(,"revisionHistoryLimit":1)", .name = "within the limit"},
      {.wanted = 4, .want = {"new=3"}, .name = "resized just now"}};
  Case unseen{.name = "of counts that are older than its size"};
  unseen.old.generation = 2;
  Case going{.name = "going already"};
  going.old.meta = R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")";
  cases.push_back(unseen);
  cases.push_back(going);
  for (const Case& test : cases) {
    const auto newest = make_set({.name = "new",
                                  .image = "v2",
                                  .available = 3,
                                  .annotations = sized(test.wanted, test.wanted + 1, 2),
                                  .created = "2025-12-31T01:00:00Z"});
    const auto deployment =
        make_deployment({.image = "v2", .spec = test.spec, .status = test.status});
    EXPECT_EQ(changes(plan_deployment(*deployment, {make_set(test.old), newest}, kNow)), test.want)
        << test.name;
  }
}

TEST(DeploymentPlan, OfHistoryWithOneRevisionTheOldestGoesAndThenTheFirstByName) {
  const auto deployment = make_deployment(
      {.image = "v9",
       .spec = R"(,"revisionHistoryLimit":1)",
       .status =
           R"({"replicas":3,"updatedReplicas":3,"availableReplicas":3,"observedGeneration":1})"});
  const auto newest =
      make_set({.name = "new", .image = "v9", .available = 3, .annotations = sized(3, 4, 9)});
  const auto old = [](const std::string& name, const std::string& created) {
    return make_set({.name = name, .replicas = 0, .annotations = sized(3, 4), .created = created});
  };
  EXPECT_EQ(
      changes(plan_deployment(
          *deployment, {newest, old("a", "2025-12-31T00:00:02Z"), old("b", "2025-12-31T00:00:01Z")},
          kNow)),
      Texts{"remove b"});
  EXPECT_EQ(
      changes(plan_deployment(
          *deployment, {newest, old("d", "2025-12-31T00:00:01Z"), old("c", "2025-12-31T00:00:01Z")},
          kNow)),
      Texts{"remove c"});
}

}  // namespace
}  // namespace muster::controllers
