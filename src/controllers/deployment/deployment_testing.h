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

}  // namespace muster::controllers
