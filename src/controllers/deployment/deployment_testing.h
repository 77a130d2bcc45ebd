#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "controllers/common/objects_testing.h"
#include "controllers/common/owners.h"
#include "controllers/common/testing_texts.h"
#include "controllers/deployment/deployment_plan.h"

// Shorthands of this room's tests.
namespace muster::controllers {

// A Deployment "web" of the image `image`.
struct DeploymentText {
  int replicas = 3;
  std::string image = "v1";
  std::string spec = {};         // further members, each with a comma before it
  std::string annotations = {};  // members
  std::string status = "{}";
  std::string meta = {};  // further members, each with a comma before it
  int generation = 1;
};

inline api::ObjectPtr make_deployment(const DeploymentText& text, std::int64_t revision = 1) {
  return make_object(
      apps_kind("Deployment"),
      fmt::format(
          R"({{"metadata":{{"name":"web","namespace":"ns","uid":"ud","generation":{0},"annotations":{{{1}}},
             "creationTimestamp":"2025-12-31T00:00:00Z"{2}}},
             "spec":{{"replicas":{3},"selector":{{"matchLabels":{{"app":"web"}}}},
             "template":{{"metadata":{{"labels":{{"app":"web"}}}},"spec":{{"containers":[{{"name":"c","image":"{4}"}}]}}}}{5}}},
             "status":{6}}})",
          text.generation, text.annotations, text.meta, text.replicas, text.image, text.spec,
          text.status),
      revision);
}

// One of its ReplicaSets.
struct SetText {
  std::string name;
  std::string image = "v1";
  std::int64_t replicas = 3;
  std::int64_t available = 0;
  std::int64_t pods = -1;  // that exist; -1: as many as it wants
  std::string annotations = {};
  std::string created = "2025-12-31T00:00:00Z";
  std::string status = {};  // further members, each with a comma before it
  std::int64_t terminating = 0;
  int generation = 1;     // its status is of the first
  std::string meta = {};  // further members, each with a comma before it
};

inline api::ObjectPtr make_set(const SetText& text, std::int64_t revision = 1) {
  return make_object(
      apps_kind("ReplicaSet"),
      fmt::format(
          R"({{"metadata":{{"name":"{0}","namespace":"ns","uid":"u-{0}","generation":{9},"annotations":{{{1}}},"labels":{{"app":"web"}}{10},
             "creationTimestamp":"{2}","ownerReferences":[{{"apiVersion":"apps/v1","kind":"Deployment","name":"web","uid":"ud","controller":true}}]}},
             "spec":{{"replicas":{3},"selector":{{"matchLabels":{{"app":"web","pod-template-hash":"x"}}}},
             "template":{{"metadata":{{"labels":{{"app":"web","pod-template-hash":"x"}}}},"spec":{{"containers":[{{"name":"c","image":"{4}"}}]}}}}}},
             "status":{{"replicas":{5},"readyReplicas":{6},"availableReplicas":{6},"terminatingReplicas":{7},"observedGeneration":1{8}}}}})",
          text.name, text.annotations, text.created, text.replicas, text.image,
          text.pods < 0 ? text.replicas : text.pods, text.available, text.terminating, text.status,
          text.generation, text.meta),
      revision);
}

// Annotations of a set that was scaled for this size.
inline std::string sized(std::int64_t desired, std::int64_t at_most, int revision = 1) {
  return fmt::format(
      R"("deployment.kubernetes.io/revision":"{}","deployment.kubernetes.io/desired-replicas":"{}","deployment.kubernetes.io/max-replicas":"{}")",
      revision, desired, at_most);
}

inline constexpr std::string_view kDeadline = R"(,"progressDeadlineSeconds":600)";

// "set=replicas", "new=replicas", "remove set".
inline Texts changes(const DeploymentPlan& plan) {
  Texts out;
  for (const auto& change : plan.changes)
    out.push_back(fmt::format("{}={}", change.set->meta().name, change.replicas));
  if (plan.create) out.push_back(fmt::format("new={}", plan.create->replicas));
  for (const auto& set : plan.remove) out.push_back("remove " + set->meta().name);
  return out;
}

// "status reason message" of a condition; empty if there is none.
inline std::string said(const DeploymentStatus& status, std::string_view type) {
  const api::DeploymentCondition* condition = status.condition(type);
  if (condition == nullptr) return "";
  return fmt::format("{} {} {}", condition->status, condition->reason, condition->message);
}

// A member of a spec: how far a rollout may go.
inline std::string rolling(std::string_view surge, std::string_view unavailable) {
  return fmt::format(
      R"(,"strategy":{{"type":"RollingUpdate","rollingUpdate":{{"maxSurge":{},"maxUnavailable":{}}}}})",
      surge, unavailable);
}

// A status with a condition Progressing. `counts`: members, each with a comma behind it.
inline std::string progressing(std::string_view status, std::string_view reason,
                               std::string_view message, std::string_view counts = "",
                               std::string_view updated = "2025-12-31T23:55:00Z") {
  return fmt::format(
      R"({{"observedGeneration":1,{}"conditions":[{{"type":"Progressing","status":"{}","reason":"{}","message":"{}",
         "lastUpdateTime":"{}","lastTransitionTime":"2025-12-31T23:00:00Z"}}]}})",
      counts, status, reason, message, updated);
}

// The status that a look at these objects leads to.
inline DeploymentStatus planned(const DeploymentText& text, const std::vector<SetText>& sets,
                                Time now = kNow) {
  std::vector<api::ObjectPtr> objects;
  for (const SetText& set : sets) objects.push_back(make_set(set));
  return plan_deployment(*make_deployment(text), std::move(objects), now).status;
}

}  // namespace muster::controllers
