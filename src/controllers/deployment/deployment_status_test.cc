#include "controllers/deployment/deployment_status.h"

#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace muster::controllers
