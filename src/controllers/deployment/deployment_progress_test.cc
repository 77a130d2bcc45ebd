#include <gtest/gtest.h>

#include <string>

#include "controllers/deployment/deployment_plan.h"
#include "controllers/deployment/deployment_status.h"
#include "controllers/deployment/deployment_testing.h"

namespace muster::controllers {
namespace {

using std::chrono::seconds;

TEST(DeploymentStatus, ARolloutBeginsMovesAndSucceeds) {
  const SetText none{.name = "a", .pods = 0, .annotations = sized(3, 4)};
  const std::string deadline(kDeadline);
  EXPECT_EQ(said(planned({.spec = deadline}, {none}), "Progressing"),
            "True NewReplicaSetCreated Created new replica set \"a\"");
  const SetText some{.name = "a", .available = 1, .annotations = sized(3, 4)};
  const std::string begun =
      progressing("True", "NewReplicaSetCreated", R"(Created new replica set \"a\")");
  const DeploymentStatus moved = planned({.spec = deadline, .status = begun}, {some});
  EXPECT_EQ(said(moved, "Progressing"), "True ReplicaSetUpdated ReplicaSet \"a\" is progressing.");
  EXPECT_EQ(moved.condition("Progressing")->last_update, kNow);
  EXPECT_EQ(moved.condition("Progressing")->last_transition, kNow - std::chrono::hours{1});
  const SetText all{.name = "a", .available = 3, .annotations = sized(3, 4)};
  EXPECT_EQ(said(planned({.spec = deadline, .status = begun}, {all}), "Progressing"),
            "True NewReplicaSetAvailable ReplicaSet \"a\" has successfully progressed.");
}

TEST(DeploymentStatus, ARolloutThatDoesNotMoveTimesOutAndNotBefore) {
  const SetText stuck{.name = "a", .available = 1, .annotations = sized(3, 4)};
  const std::string status =
      progressing("True", "ReplicaSetUpdated", R"(ReplicaSet \"a\" is progressing.)",
                  R"("replicas":3,"updatedReplicas":3,"readyReplicas":1,"availableReplicas":1,)");
  const DeploymentText text{.spec = std::string(kDeadline), .status = status};
  const Time updated = kNow - std::chrono::minutes{5};
  EXPECT_EQ(said(planned(text, {stuck}, updated + seconds{600}), "Progressing"),
            "True ReplicaSetUpdated ReplicaSet \"a\" is progressing.");
  EXPECT_EQ(plan_deployment(*make_deployment(text), {make_set(stuck)}, kNow).again,
            updated + seconds{601});
  EXPECT_EQ(said(planned(text, {stuck}, updated + seconds{601}), "Progressing"),
            "False ProgressDeadlineExceeded ReplicaSet \"a\" has timed out progressing.");
}

TEST(DeploymentStatus, ARolloutAfterAnotherStartsTheClockAgain) {
  const SetText old{.name = "a", .available = 3, .annotations = sized(3, 4)};
  const SetText next{.name = "b",
                     .image = "v2",
                     .replicas = 1,
                     .pods = 0,
                     .annotations = sized(3, 4, 2),
                     .created = "2025-12-31T01:00:00Z"};
  const std::string counts = R"("replicas":3,"readyReplicas":3,"availableReplicas":3,)";
  for (const std::string_view reason : {"NewReplicaSetAvailable", "ProgressDeadlineExceeded"}) {
    const DeploymentStatus status =
        planned({.image = "v2",
                 .spec = std::string(kDeadline),
                 .status = progressing("True", reason, R"(ReplicaSet \"a\" …)", counts,
                                       "2025-01-01T00:00:00Z")},
                {old, next});
    EXPECT_EQ(said(status, "Progressing"),
              "True NewReplicaSetCreated Created new replica set \"b\"")
        << reason;
    EXPECT_EQ(status.condition("Progressing")->last_update, kNow);
  }
}

TEST(DeploymentStatus, ScalingWhatIsCompleteIsNoProgress) {
  const SetText set{
      .name = "a", .replicas = 5, .available = 3, .pods = 3, .annotations = sized(5, 7)};
  const std::string done = progressing(
      "True", "NewReplicaSetAvailable", R"(ReplicaSet \"a\" has successfully progressed.)",
      R"("replicas":3,"updatedReplicas":3,"readyReplicas":3,"availableReplicas":3,)");
  EXPECT_EQ(said(planned({.replicas = 5, .spec = std::string(kDeadline), .status = done}, {set},
                         kNow + std::chrono::hours{1}),
                 "Progressing"),
            "True NewReplicaSetAvailable ReplicaSet \"a\" has successfully progressed.");
  SetText grows = set;
  grows.pods = 5;
  grows.available = 4;
  EXPECT_EQ(said(planned({.replicas = 5, .spec = std::string(kDeadline), .status = done}, {grows}),
                 "Progressing"),
            "True NewReplicaSetAvailable ReplicaSet \"a\" has successfully progressed.")
      << "more pods, and more that work, but no rollout";
  const SetText old{.name = "old", .image = "v0", .replicas = 1, .annotations = sized(5, 7)};
  EXPECT_EQ(
      said(planned({.replicas = 5, .spec = std::string(kDeadline), .status = done}, {old, grows}),
           "Progressing"),
      "True ReplicaSetUpdated ReplicaSet \"a\" is progressing.")
      << "there is an old pod again";
}

TEST(DeploymentStatus, APauseIsSaidAndItsEndToo) {
  const std::string paused = std::string(kDeadline) + R"(,"paused":true)";
  const SetText set{.name = "a", .available = 1, .annotations = sized(3, 4)};
  EXPECT_EQ(said(planned({.spec = paused}, {set}), "Progressing"),
            "Unknown DeploymentPaused Deployment is paused");
  const std::string status =
      progressing("Unknown", "DeploymentPaused", "Deployment is paused",
                  R"("replicas":3,"updatedReplicas":3,"readyReplicas":1,"availableReplicas":1,)");
  EXPECT_EQ(said(planned({.spec = std::string(kDeadline), .status = status}, {set}), "Progressing"),
            "Unknown DeploymentResumed Deployment is resumed");
  const std::string late = progressing("False", "ProgressDeadlineExceeded", "late");
  EXPECT_EQ(said(planned({.spec = paused, .status = late}, {set}), "Progressing"),
            "False ProgressDeadlineExceeded late");
}

TEST(DeploymentStatus, WithoutADeadlineNothingIsSaidOfProgress) {
  const SetText set{.name = "a", .available = 1, .annotations = sized(3, 4)};
  EXPECT_EQ(said(planned({.status = progressing("True", "X", "y")}, {set}), "Progressing"), "");
}

// A rollout in which one more old pod is gone, or one more new pod is there, ready or available.
TEST(DeploymentStatus, ARolloutMovesWithEachOfItsNumbersAndOnlyIfTheyImprove) {
  const auto reason = [](std::string_view before) {
    const std::string status =
        progressing("True", "NewReplicaSetCreated", R"(Created new replica set \"b\")", before);
    const DeploymentStatus after =
        planned({.replicas = 4, .image = "v2", .spec = std::string(kDeadline), .status = status},
                {{.name = "a", .replicas = 3, .available = 2, .annotations = sized(4, 5)},
                 {.name = "b",
                  .image = "v2",
                  .replicas = 2,
                  .available = 1,
                  .annotations = sized(4, 5, 2),
                  .created = "2025-12-31T01:00:00Z"}});
    return after.condition("Progressing")->reason;
  };
  const std::string moved = "ReplicaSetUpdated";
  const std::string begun = "NewReplicaSetCreated";
  EXPECT_EQ(reason(R"("replicas":5,"updatedReplicas":2,"readyReplicas":3,"availableReplicas":3,)"),
            begun)
      << "as before";
  EXPECT_EQ(reason(R"("replicas":4,"updatedReplicas":1,"readyReplicas":3,"availableReplicas":3,)"),
            moved)
      << "another new one";
  EXPECT_EQ(reason(R"("replicas":6,"updatedReplicas":2,"readyReplicas":3,"availableReplicas":3,)"),
            moved)
      << "an old one less";
  EXPECT_EQ(reason(R"("replicas":5,"updatedReplicas":2,"readyReplicas":2,"availableReplicas":3,)"),
            moved)
      << "another one ready";
  EXPECT_EQ(reason(R"("replicas":5,"updatedReplicas":2,"readyReplicas":3,"availableReplicas":2,)"),
            moved)
      << "another one available";
  EXPECT_EQ(reason(R"("replicas":5,"updatedReplicas":3,"readyReplicas":4,"availableReplicas":4,)"),
            begun)
      << "all went back";
}

TEST(DeploymentStatus, ARolloutToASetThatWasThereFindsIt) {
  const auto begun = [](const SetText& set) {
    return said(planned({.spec = std::string(kDeadline)}, {set}), "Progressing");
  };
  SetText set{.name = "a", .pods = 0, .annotations = sized(3, 4)};
  EXPECT_EQ(begun(set), "True NewReplicaSetCreated Created new replica set \"a\"")
      << "made in the same second";
  set.created = "2025-12-30T23:59:59Z";
  EXPECT_EQ(begun(set), "True FoundNewReplicaSet Found new replica set \"a\"")
      << "older than its Deployment";
  set.created = "2025-12-31T00:00:00Z";
  set.annotations += R"(,"deployment.kubernetes.io/revision-history":"1")";
  EXPECT_EQ(begun(set), "True FoundNewReplicaSet Found new replica set \"a\"") << "rolled back to";
}

TEST(DeploymentStatus, AResumedRolloutIsNotBegunAgainUnlessItsSetIsYounger) {
  const auto resumed = [](std::string_view reason, std::string_view created) {
    return said(
        planned({.spec = std::string(kDeadline),
                 .status = progressing("Unknown", reason, R"(about \"a\")",
                                       R"("replicas":3,"updatedReplicas":3,)")},
                {{.name = "a", .annotations = sized(3, 4), .created = std::string(created)}}),
        "Progressing");
  };
  // The condition is of 23:55:00.
  EXPECT_EQ(resumed("DeploymentResumed", "2025-12-31T23:55:00Z"),
            "Unknown DeploymentResumed about \"a\"");
  EXPECT_EQ(resumed("DeploymentResumed", "2025-12-31T23:55:01Z"),
            "True NewReplicaSetCreated Created new replica set \"a\"");
  EXPECT_EQ(resumed("DeploymentPaused", "2025-12-31T23:55:00Z"),
            "Unknown DeploymentResumed Deployment is resumed")
      << "said now, after the set was made";
  EXPECT_EQ(resumed("ReplicaSetCreateError", "2025-12-31T23:55:00Z"),
            "True NewReplicaSetCreated Created new replica set \"a\"")
      << "what could not be made is there";
}

TEST(DeploymentStatus, WithoutASetItSpeaksOfTheDeployment) {
  const DeploymentText text{.replicas = 0, .spec = std::string(kDeadline)};
  const auto deployment = make_deployment(text);
  const auto& view = deployment->view<api::DeploymentView>();
  RolloutSets none;
  DeploymentStatus status = count_sets(*deployment, view.status, none, kNow);
  judge_progress(*deployment, view.status, none, status, kNow);
  EXPECT_EQ(said(status, "Progressing"),
            "True NewReplicaSetAvailable Deployment \"web\" has successfully progressed.");
  const DeploymentStatus said_before = status;
  judge_progress(*deployment, said_before, none, status, kNow + seconds{9});
  EXPECT_EQ(status, said_before) << "once";
  // A Recreate waits for its old pods: no set is there to speak of, and nothing was said.
  const SetText ends{.name = "a", .replicas = 0, .pods = 1, .annotations = sized(3, 3)};
  EXPECT_EQ(said(planned({.image = "v2",
                          .spec = std::string(kDeadline) + R"(,"strategy":{"type":"Recreate"})",
                          .status = R"({"replicas":1})"},
                         {ends}),
                 "Progressing"),
            "");
}

TEST(DeploymentStatus, ACompleteRolloutIsSaidOnceAndASecondOneAgain) {
  const SetText all{.name = "a", .available = 3, .annotations = sized(3, 4)};
  const auto success = [&](std::string_view set) {
    const DeploymentStatus status =
        planned({.spec = std::string(kDeadline),
                 .status = progressing(
                     "True", "NewReplicaSetAvailable",
                     fmt::format(R"(ReplicaSet \"{}\" has successfully progressed.)", set))},
                {all});
    EXPECT_EQ(said(status, "Progressing"),
              "True NewReplicaSetAvailable ReplicaSet \"a\" has successfully progressed.");
    return status.condition("Progressing")->last_update;
  };
  EXPECT_EQ(success("a"), kNow - std::chrono::minutes{5}) << "as it was said";
  EXPECT_EQ(success("b"), kNow) << "of another set";
}

TEST(DeploymentStatus, AProgressThatTimedOutIsATransition) {
  const SetText stuck{.name = "a", .available = 1, .annotations = sized(3, 4)};
  const std::string counts =
      R"("replicas":3,"updatedReplicas":3,"readyReplicas":1,"availableReplicas":1,)";
  const DeploymentStatus late = planned(
      {.spec = std::string(kDeadline),
       .status = progressing("True", "ReplicaSetUpdated", R"(ReplicaSet \"a\" is progressing.)",
                             counts, "2025-12-31T23:00:00Z")},
      {stuck});
  EXPECT_EQ(late.condition("Progressing")->reason, "ProgressDeadlineExceeded");
  EXPECT_EQ(late.condition("Progressing")->last_transition, kNow);
  const SetText moves{.name = "a", .available = 2, .annotations = sized(3, 4)};
  const DeploymentStatus again =
      planned({.spec = std::string(kDeadline),
               .status = progressing("False", "ProgressDeadlineExceeded",
                                     R"(ReplicaSet \"a\" has timed out progressing.)", counts)},
              {moves});
  EXPECT_EQ(said(again, "Progressing"), "True ReplicaSetUpdated ReplicaSet \"a\" is progressing.");
  EXPECT_EQ(again.condition("Progressing")->last_transition, kNow) << "of another status";
}

TEST(DeploymentStatus, LooksAgainWhenADeadlineMayPassAndOnlyThen) {
  const auto due = [](std::string_view reason, const std::string& spec = std::string(kDeadline)) {
    const auto deployment =
        make_deployment({.spec = spec, .status = progressing("True", reason, "…")});
    return progress_due(*deployment, deployment->view<api::DeploymentView>().status);
  };
  EXPECT_EQ(due("ReplicaSetUpdated"), kNow - std::chrono::minutes{5} + seconds{601});
  EXPECT_EQ(due("NewReplicaSetAvailable"), std::nullopt) << "it is done";
  EXPECT_EQ(due("ProgressDeadlineExceeded"), std::nullopt) << "it has passed";
  EXPECT_EQ(due("ReplicaSetUpdated", ""), std::nullopt) << "it has none";
  EXPECT_EQ(due("ReplicaSetUpdated", std::string(kDeadline) + R"(,"paused":true)"), std::nullopt);
  const auto fresh = make_deployment({.spec = std::string(kDeadline)});
  EXPECT_EQ(progress_due(*fresh, {}), std::nullopt) << "nothing has begun";
}

}  // namespace
}  // namespace muster::controllers
