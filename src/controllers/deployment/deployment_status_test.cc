#include "controllers/deployment/deployment_status.h"

#include <gtest/gtest.h>

#include <string>

#include "api/views/controller_revision_view.h"
#include "controllers/deployment/deployment_plan.h"
#include "controllers/deployment/deployment_testing.h"

namespace muster::controllers {
namespace {

using std::chrono::seconds;

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

TEST(DeploymentStatus, IsCompleteOnceAllPodsAreNewAndAvailableAndItWasSeen) {
  DeploymentStatus done;
  done.observed_generation = 2;
  done.replicas = done.updated = done.available = 3;
  const auto complete = [](const DeploymentStatus& status) {
    return is_complete(*make_deployment({.generation = 2}), status);
  };
  EXPECT_TRUE(complete(done));
  const auto but = [&](auto change) {
    DeploymentStatus status = done;
    change(status);
    return complete(status);
  };
  EXPECT_FALSE(but([](auto& status) { status.observed_generation = 1; }));
  EXPECT_FALSE(but([](auto& status) { status.replicas = 4; })) << "an old one is left";
  EXPECT_FALSE(but([](auto& status) { status.updated = 2; }));
  EXPECT_FALSE(but([](auto& status) { status.available = 2; }));
}

TEST(DeploymentStatus, ATransitionIsANewStatusAndTimesAreWholeSeconds) {
  const Time now = kNow + std::chrono::milliseconds{1700};
  DeploymentStatus status;
  set_condition(status, make_condition("Available", "True", "Enough", "yes", now));
  ASSERT_EQ(status.conditions.size(), 1U);
  EXPECT_EQ(status.conditions[0].last_update, kNow + seconds{1});
  EXPECT_EQ(status.conditions[0].last_transition, kNow + seconds{1});
  const auto set = [&](std::string_view state, std::string_view reason) {
    set_condition(status, make_condition("Available", state, reason, "new", kNow + seconds{60}));
    EXPECT_EQ(status.conditions.size(), 1U);
    return status.conditions[0];
  };
  EXPECT_EQ(set("True", "Enough").message, "yes") << "nothing has changed";
  const auto other_reason = set("True", "Plenty");
  EXPECT_EQ(other_reason.message, "new");
  EXPECT_EQ(other_reason.last_update, kNow + seconds{60});
  EXPECT_EQ(other_reason.last_transition, kNow + seconds{1});
  EXPECT_EQ(set("False", "Plenty").last_transition, kNow + seconds{60});
}

TEST(DeploymentStatus, WhatIsMissingForAvailabilityIsCountedFromTheSizesOfItsSets) {
  // Five are wanted of both sets together, one may be missing of four.
  const auto counted = [](std::int64_t available) {
    return planned({.replicas = 4, .image = "v2"}, {{.name = "a",
                                                     .replicas = 3,
                                                     .available = available,
                                                     .annotations = sized(4, 5),
                                                     .terminating = 2},
                                                    {.name = "b",
                                                     .image = "v2",
                                                     .replicas = 2,
                                                     .available = 0,
                                                     .annotations = sized(4, 5, 2),
                                                     .created = "2025-12-31T01:00:00Z",
                                                     .terminating = 1}});
  };
  EXPECT_EQ(counted(3).unavailable, 2);
  EXPECT_EQ(counted(3).terminating, 3);
  EXPECT_TRUE(said(counted(3), "Available").starts_with("True "));
  EXPECT_TRUE(said(counted(2), "Available").starts_with("False "));
  const SetText shrinks{
      .name = "a", .replicas = 1, .available = 3, .pods = 3, .annotations = sized(1, 2)};
  EXPECT_EQ(planned({.replicas = 1}, {shrinks}).unavailable, 0) << "never below nothing";
}

TEST(DeploymentStatus, AFailureThatIsOverIsNotSaid) {
  const SetText set{.name = "a", .available = 3, .annotations = sized(3, 4)};
  const DeploymentStatus status = planned(
      {.status =
           R"({"conditions":[{"type":"ReplicaFailure","status":"True","reason":"FailedCreate"}]})"},
      {set});
  EXPECT_EQ(said(status, "ReplicaFailure"), "");
  EXPECT_NE(status.condition("Available"), nullptr);
}

TEST(DeploymentStatus, AFailureIsAsOldAsItsSetSays) {
  const SetText set{
      .name = "a",
      .available = 3,
      .annotations = sized(3, 4),
      .status =
          R"(,"conditions":[{"type":"ReplicaFailure","status":"True","reason":"FailedCreate",
             "lastTransitionTime":"2025-12-31T23:00:00Z"}])"};
  const DeploymentStatus status = planned({}, {set});
  ASSERT_NE(status.condition("ReplicaFailure"), nullptr);
  EXPECT_EQ(status.condition("ReplicaFailure")->last_update, kNow - std::chrono::hours{1});
  EXPECT_EQ(status.condition("ReplicaFailure")->last_transition, kNow - std::chrono::hours{1});
}

TEST(DeploymentStatus, TheRequestReplacesTheWholeStatus) {
  const auto deployment =
      make_deployment({.status = R"({"replicas":9,"unavailableReplicas":7,"collisionCount":1})"});
  DeploymentStatus status{.observed_generation = 4,
                          .replicas = 5,
                          .updated = 3,
                          .ready = 2,
                          .available = 1,
                          .terminating = 0,
                          .collisions = 6,
                          .conditions = {}};
  set_condition(status, make_condition("Available", "True", "Enough", "Yes.", kNow));
  api::DeploymentCondition bare;
  bare.type = "Bare";
  bare.status = "False";
  status.conditions.push_back(bare);
  const api::Request request = deployment_status_request(*deployment, status);
  EXPECT_EQ(request.subresource, "status");
  EXPECT_EQ(
      api::sorted_text(*api::find_path(request.body.as_array()[1], "value")),
      R"({"availableReplicas":1,"collisionCount":6,"conditions":[{"lastTransitionTime":)"
      R"("2026-01-01T00:00:00Z","lastUpdateTime":"2026-01-01T00:00:00Z","message":"Yes.",)"
      R"("reason":"Enough","status":"True","type":"Available"},{"status":"False","type":"Bare"}],)"
      R"("observedGeneration":4,"readyReplicas":2,"replicas":5,"terminatingReplicas":0,)"
      R"("updatedReplicas":3})");
}

}  // namespace
}  // namespace muster::controllers
