#include "controllers/deployment/deployment_status.h"

#include <gtest/gtest.h>

#include <string>

#include "controllers/deployment/deployment_plan.h"
#include "controllers/deployment/deployment_testing.h"

namespace muster::controllers {
namespace {

using std::chrono::seconds;

constexpr std::string_view kDeadline = R"(,"progressDeadlineSeconds":600)";

std::string said(const DeploymentStatus& status, std::string_view type) {
  const api::DeploymentCondition* condition = status.condition(type);
  if (condition == nullptr) return "";
  return fmt::format("{} {} {}", condition->status, condition->reason, condition->message);
}

std::string progressing(std::string_view status, std::string_view reason, std::string_view message,
                        std::string_view counts = "",
                        std::string_view updated = "2025-12-31T23:55:00Z") {
  return fmt::format(
      R"({{"observedGeneration":1,{}"conditions":[{{"type":"Progressing","status":"{}","reason":"{}","message":"{}",
         "lastUpdateTime":"{}","lastTransitionTime":"2025-12-31T23:00:00Z"}}]}})",
      counts, status, reason, message, updated);
}

DeploymentStatus planned(const DeploymentText& text, const std::vector<SetText>& sets,
                         Time now = kNow) {
  std::vector<api::ObjectPtr> objects;
  for (const SetText& set : sets) objects.push_back(make_set(set));
  return plan_deployment(*make_deployment(text), std::move(objects), now).status;
}

TEST(DeploymentStatus, CountsWhatItsSetsSay) {
  const DeploymentStatus status = planned(
      {.replicas = 4, .image = "v2"},
      {{.name = "a", .replicas = 3, .available = 2, .annotations = sized(4, 5), .terminating = 1},
       {.name = "b",
        .image = "v2",
        .replicas = 2,
        .available = 1,
        .annotations = sized(4, 5, 2),
        .created = "2025-12-31T01:00:00Z"}});
  EXPECT_EQ(status.replicas, 5);
  EXPECT_EQ(status.updated, 2);
  EXPECT_EQ(status.ready, 3);
  EXPECT_EQ(status.available, 3);
  EXPECT_EQ(status.terminating, 1);
  EXPECT_EQ(said(status, "Available"),
            "True MinimumReplicasAvailable Deployment has minimum availability.");
  EXPECT_EQ(said(planned({.replicas = 4}, {}), "Available"),
            "False MinimumReplicasUnavailable Deployment does not have minimum availability.");
}

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

TEST(DeploymentStatus, AFailureOfTheNewestSetIsSaidFirst) {
  const auto failing = [](std::string_view why) {
    return fmt::format(
        R"(,"conditions":[{{"type":"ReplicaFailure","status":"True","reason":"FailedCreate","message":"{}","lastTransitionTime":"2025-12-31T23:00:00Z"}}])",
        why);
  };
  const SetText old{
      .name = "a", .available = 3, .annotations = sized(3, 4), .status = failing("old")};
  const SetText next{.name = "b",
                     .image = "v2",
                     .replicas = 1,
                     .pods = 0,
                     .annotations = sized(3, 4, 2),
                     .created = "2025-12-31T01:00:00Z",
                     .status = failing("new")};
  EXPECT_EQ(said(planned({.image = "v2"}, {old, next}), "ReplicaFailure"), "True FailedCreate new");
  EXPECT_EQ(said(planned({}, {old}), "ReplicaFailure"), "True FailedCreate old");
}

}  // namespace
}  // namespace muster::controllers
