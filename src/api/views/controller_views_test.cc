#include <gtest/gtest.h>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/object.h"
#include "api/views/budget_view.h"
#include "api/views/condition.h"
#include "api/views/controller_revision_view.h"
#include "api/views/daemon_set_view.h"
#include "api/views/deployment_view.h"
#include "api/views/replica_set_view.h"
#include "api/views/stateful_set_view.h"
#include "api/views/views_testing.h"

// What controllers read of the kinds they are for.
namespace muster::api {
namespace {

using std::chrono::seconds;

TEST(IntOrPercent, IsRoundedOneWayOrTheOther) {
  constexpr IntOrPercent kHalf{.value = 50, .percent = true};
  EXPECT_EQ(kHalf.of_rounded_up(3), 2);
  EXPECT_EQ(kHalf.of_rounded_down(3), 1);
  EXPECT_EQ(kHalf.of_rounded_up(4), 2);
  EXPECT_EQ((IntOrPercent{.value = 1, .percent = true}).of_rounded_up(1), 1);
  EXPECT_EQ((IntOrPercent{.value = 5}).of_rounded_up(3), 5);
  EXPECT_EQ((IntOrPercent{.value = 5}).of_rounded_down(3), 5);
  const auto read = [](std::string_view text) {
    const IntOrPercent found = read_int_or_percent(json(text), "a", {.value = 7});
    return std::to_string(found.value) + (found.percent ? "%" : "");
  };
  EXPECT_EQ(read(R"({"a":3})"), "3");
  EXPECT_EQ(read(R"({"a":"30%"})"), "30%");
  for (const std::string_view odd : {"{}", R"({"a":"30"})", R"({"a":"30%%"})", R"({"a":"x%"})"})
    EXPECT_EQ(read(odd), "7") << odd;
}

TEST(DaemonSetView, ReadsStrategyAndStatus) {
  const auto view = view_of<DaemonSetView>("apps", "DaemonSet", R"("spec":{"minReadySeconds":4,
      "revisionHistoryLimit":3,"selector":{"matchLabels":{"a":"b"}},
      "updateStrategy":{"type":"OnDelete","rollingUpdate":{"maxSurge":"10%","maxUnavailable":2}}},
      "status":{"currentNumberScheduled":1,"numberMisscheduled":2,"desiredNumberScheduled":3,"numberReady":4,
      "updatedNumberScheduled":5,"numberAvailable":6,"numberUnavailable":7,"observedGeneration":8,"collisionCount":9})");
  EXPECT_EQ(view->min_ready, seconds{4});
  EXPECT_EQ(view->history_limit, 3);
  EXPECT_TRUE(view->selector && view->selector->matches({{"a", "b"}}));
  EXPECT_TRUE(view->on_delete);
  EXPECT_TRUE(view->max_surge.percent);
  EXPECT_EQ(view->max_surge.value, 10);
  EXPECT_EQ(view->max_unavailable.value, 2);
  EXPECT_EQ(view->status, (DaemonSetView::Status{.current = 1,
                                                 .misscheduled = 2,
                                                 .desired = 3,
                                                 .ready = 4,
                                                 .updated = 5,
                                                 .available = 6,
                                                 .unavailable = 7,
                                                 .observed_generation = 8,
                                                 .collisions = 9}));
  const auto bare = view_of<DaemonSetView>("apps", "DaemonSet", R"("spec":{})");
  EXPECT_EQ(bare->history_limit, 10);
  EXPECT_FALSE(bare->on_delete);
  EXPECT_EQ(bare->max_surge.value, 0);
  EXPECT_EQ(bare->max_unavailable.value, 1);
  EXPECT_EQ(bare->status.collisions, std::nullopt);
}

TEST(DeploymentView, ReadsStrategyAndStatus) {
  const auto view =
      view_of<DeploymentView>("apps", "Deployment", R"("spec":{"replicas":4,"minReadySeconds":5,
      "paused":true,"revisionHistoryLimit":2,"progressDeadlineSeconds":9,"selector":{"matchLabels":{"a":"b"}},
      "strategy":{"type":"Recreate","rollingUpdate":{"maxSurge":1,"maxUnavailable":"40%"}},
      "template":{"metadata":{"labels":{"a":"b","pod-template-hash":"h"}}}},
      "status":{"observedGeneration":1,"replicas":2,"updatedReplicas":3,"readyReplicas":4,"availableReplicas":5,
      "unavailableReplicas":6,"terminatingReplicas":7,"collisionCount":8,"conditions":[
      {"type":"Progressing","status":"True","reason":"R","message":"m","lastUpdateTime":"2026-01-01T00:00:00Z",
       "lastTransitionTime":"2026-01-02T00:00:00Z"}]})");
  EXPECT_EQ(view->replicas, 4);
  EXPECT_EQ(view->min_ready, seconds{5});
  EXPECT_TRUE(view->paused && view->recreates);
  EXPECT_EQ(view->history_limit, 2);
  EXPECT_EQ(view->progress_deadline, seconds{9});
  EXPECT_EQ(view->max_surge.value, 1);
  EXPECT_EQ(view->max_unavailable.value, 40);
  EXPECT_TRUE(view->max_unavailable.percent);
  EXPECT_EQ(view->template_text, R"({"metadata":{"labels":{"a":"b"}},"spec":{}})")
      << "without the hash";
  const DeploymentView::Status& status = view->status;
  EXPECT_EQ(status.observed_generation, 1);
  EXPECT_EQ(status.replicas, 2);
  EXPECT_EQ(status.updated, 3);
  EXPECT_EQ(status.ready, 4);
  EXPECT_EQ(status.available, 5);
  EXPECT_EQ(status.unavailable, 6);
  EXPECT_EQ(status.terminating, 7);
  EXPECT_EQ(status.collisions, 8);
  const DeploymentCondition* found = status.condition("Progressing");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->last_update, parse_time("2026-01-01T00:00:00Z"));
  EXPECT_EQ(found->last_transition, parse_time("2026-01-02T00:00:00Z"));
  EXPECT_EQ(status.condition("Available"), nullptr);
  for (const auto change : {+[](DeploymentCondition& c) { c.type = "x"; },
                            +[](DeploymentCondition& c) { c.status = "x"; },
                            +[](DeploymentCondition& c) { c.reason = "x"; },
                            +[](DeploymentCondition& c) { c.message = "x"; },
                            +[](DeploymentCondition& c) { c.last_update.reset(); },
                            +[](DeploymentCondition& c) { c.last_transition.reset(); }}) {
    DeploymentCondition other = *found;
    EXPECT_TRUE(other == *found);
    change(other);
    EXPECT_FALSE(other == *found);
  }
}

TEST(DeploymentView, TheLargestNumberIsNone) {
  const auto bare = view_of<DeploymentView>("apps", "Deployment", R"("spec":{})");
  EXPECT_EQ(bare->replicas, 1);
  EXPECT_FALSE(bare->recreates || bare->paused);
  EXPECT_EQ(bare->max_surge.value, 25);
  EXPECT_TRUE(bare->max_surge.percent && bare->max_unavailable.percent);
  EXPECT_EQ(bare->max_unavailable.value, 25);
  EXPECT_EQ(bare->history_limit, std::nullopt);
  EXPECT_EQ(bare->progress_deadline, std::nullopt);
  const auto endless = view_of<DeploymentView>(
      "apps", "Deployment",
      R"("spec":{"revisionHistoryLimit":2147483647,"progressDeadlineSeconds":2147483647})");
  EXPECT_EQ(endless->history_limit, std::nullopt);
  EXPECT_EQ(endless->progress_deadline, std::nullopt);
}

TEST(ReplicaSetView, ReadsTemplateAndStatus) {
  const auto view =
      view_of<ReplicaSetView>("apps", "ReplicaSet", R"("spec":{"replicas":4,"minReadySeconds":5,
      "selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"b":"2","a":"1"}}}},
      "status":{"replicas":1,"fullyLabeledReplicas":2,"readyReplicas":3,"availableReplicas":4,
      "terminatingReplicas":5,"observedGeneration":6,"conditions":[{"type":"Other","status":"True"},
      {"type":"ReplicaFailure","status":"True","reason":"R","message":"m","lastTransitionTime":"2026-01-02T00:00:00Z"}]})");
  EXPECT_EQ(view->replicas, 4);
  EXPECT_EQ(view->min_ready, seconds{5});
  EXPECT_TRUE(view->selector && view->selector->matches({{"a", "b"}}));
  EXPECT_EQ(view->template_labels, (StringPairs{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(view->status, (ReplicaSetView::Status{.replicas = 1,
                                                  .fully_labeled = 2,
                                                  .ready = 3,
                                                  .available = 4,
                                                  .terminating = 5,
                                                  .observed_generation = 6}));
  ASSERT_TRUE(view->failure);
  EXPECT_EQ(
      view->failure->type + view->failure->status + view->failure->reason + view->failure->message,
      "ReplicaFailureTrueRm");
  EXPECT_EQ(view->failure->last_transition, parse_time("2026-01-02T00:00:00Z"));
  const auto bare = view_of<ReplicaSetView>("apps", "ReplicaSet", R"("spec":{})");
  EXPECT_EQ(bare->replicas, 1);
  EXPECT_FALSE(bare->failure);
  EXPECT_EQ(bare->status, ReplicaSetView::Status{});
}

TEST(StatefulSetView, ReadsStrategyAndStatus) {
  const auto view = view_of<StatefulSetView>("apps", "StatefulSet",
                                             R"("spec":{"replicas":9,"ordinals":{"start":2},
      "podManagementPolicy":"Parallel","minReadySeconds":3,"revisionHistoryLimit":4,
      "updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":5,"maxUnavailable":"34%"}},
      "persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete","whenScaled":"Retain"},
      "volumeClaimTemplates":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]},
      "status":{"observedGeneration":1,"replicas":2,"readyReplicas":3,"availableReplicas":4,"currentReplicas":5,
      "updatedReplicas":6,"currentRevision":"c","updateRevision":"u","collisionCount":7})");
  EXPECT_EQ(view->replicas, 9);
  EXPECT_EQ(view->first_ordinal, 2);
  EXPECT_TRUE(view->parallel);
  EXPECT_FALSE(view->on_delete);
  EXPECT_EQ(view->partition, 5);
  EXPECT_EQ(view->unavailable_max, 3) << "rounded down";
  EXPECT_EQ(view->min_ready_s, 3);
  EXPECT_EQ(view->history_limit, 4);
  EXPECT_TRUE(view->claims_go_with_set);
  EXPECT_FALSE(view->claims_go_with_pod);
  EXPECT_EQ(view->claim_templates, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(view->status, (StatefulSetView::Status{.observed_generation = 1,
                                                   .replicas = 2,
                                                   .ready = 3,
                                                   .available = 4,
                                                   .current = 5,
                                                   .updated = 6,
                                                   .current_revision = "c",
                                                   .update_revision = "u",
                                                   .collisions = 7}));
  const auto bare = view_of<StatefulSetView>(
      "apps", "StatefulSet",
      R"("spec":{"updateStrategy":{"type":"OnDelete"},"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Delete"}})");
  EXPECT_EQ(bare->replicas, 1);
  EXPECT_EQ(bare->unavailable_max, 1);
  EXPECT_EQ(bare->history_limit, 10);
  EXPECT_TRUE(bare->on_delete && bare->claims_go_with_pod);
  EXPECT_FALSE(bare->parallel || bare->claims_go_with_set);
  EXPECT_EQ(bare->status.collisions, std::nullopt);
  const auto few = view_of<StatefulSetView>(
      "apps", "StatefulSet",
      R"("spec":{"replicas":2,"updateStrategy":{"rollingUpdate":{"maxUnavailable":"10%"}}})");
  EXPECT_EQ(few->unavailable_max, 1) << "one at least";
  const auto many = view_of<StatefulSetView>(
      "apps", "StatefulSet", R"("spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":4}}})");
  EXPECT_EQ(many->unavailable_max, 4);
}

TEST(ControllerRevisionView, HoldsItsDataInOneForm) {
  const auto view = view_of<ControllerRevisionView>(
      "apps", "ControllerRevision",
      R"("data":{"b":[1,"<&>"],"a":{"d":null,"c":true}},"revision":7)");
  EXPECT_EQ(view->number, 7);
  EXPECT_EQ(view->data, R"({"a":{"c":true,"d":null},"b":[1,"\u003c\u0026\u003e"]})");
}

TEST(BudgetView, KnowsWhoIsUnderWay) {
  const auto view = view_of<BudgetView>("policy", "PodDisruptionBudget",
                                        R"("spec":{"selector":{}},"status":{"disruptionsAllowed":2,
      "disruptedPods":{"b":"2026-01-01T00:00:00Z","a":"2026-01-01T00:00:00Z"}})");
  EXPECT_EQ(view->disruptions_allowed, 2);
  EXPECT_EQ(view->disrupted, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(view->selects({{"any", "thing"}})) << "an empty selector selects everything";
}

TEST(Conditions, AreReadInTheirOrder) {
  const auto read = read_conditions(json(
      R"({"status":{"conditions":[{"type":"b","status":"True","reason":"r","message":"m","observedGeneration":3},{"type":"a"}]}})"));
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].type + read[0].status + read[0].reason + read[0].message, "bTruerm");
  EXPECT_EQ(read[0].observed_generation, 3);
  EXPECT_EQ(read[1].observed_generation, 0);
  EXPECT_EQ(lookup(read, "a"), &read[1]);
  EXPECT_EQ(lookup(read, "c"), nullptr);
  EXPECT_TRUE(read_conditions(json("{}")).empty());
}

}  // namespace
}  // namespace muster::api
