#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "api/object.h"
#include "controllers/common/objects_testing.h"
#include "controllers/common/owners.h"

// Shorthands of this room's tests.
namespace muster::controllers {

// A DaemonSet "d"; further members of its spec, of the spec of its pods and of its metadata, each
// with a comma before it.
inline api::ObjectPtr make_set(std::string_view spec = "", std::string_view pod_spec = "",
                               std::string_view status = "{}", std::int64_t revision = 1,
                               std::string_view meta = "") {
  return make_object(
      apps_kind("DaemonSet"),
      fmt::format(R"({{"metadata":{{"name":"d","namespace":"ns","uid":"ud","generation":2{}}},
        "spec":{{"selector":{{"matchLabels":{{"app":"d"}}}}{},
        "template":{{"metadata":{{"labels":{{"app":"d"}}}},"spec":{{"containers":[{{"name":"c","image":"i"}}]{}}}}}}},
        "status":{}}})",
                  meta, spec, pod_spec, status),
      revision);
}

inline api::ObjectPtr make_node(std::string_view name, std::string_view labels = "",
                                std::string_view taints = "", std::int64_t revision = 1) {
  return make_object(
      api::kinds::node(),
      fmt::format(R"({{"metadata":{{"name":"{}","labels":{{{}}}}},"spec":{{"taints":[{}]}}}})",
                  name, labels, taints),
      revision);
}

// A pod of the set.
struct PodText {
  std::string name;
  std::string node = "n1";
  std::string hash = "new";
  std::string phase = "Running";
  bool ready = true;
  bool bound = true;
  bool deleted = false;
  std::string made = "2025-12-31T00:00:00Z";
};

inline api::ObjectPtr make_pod(const PodText& text, std::int64_t revision = 1) {
  return make_object(
      api::kinds::pod(),
      fmt::format(
          R"({{"metadata":{{"name":"{0}","namespace":"ns","uid":"u-{0}","creationTimestamp":"{1}"{2},
             "labels":{{"app":"d","controller-revision-hash":"{3}"}},
             "ownerReferences":[{{"apiVersion":"apps/v1","kind":"DaemonSet","name":"d","uid":"ud","controller":true}}]}},
             "spec":{{"nodeName":"{4}","affinity":{{"nodeAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":{{"nodeSelectorTerms":
               [{{"matchFields":[{{"key":"metadata.name","operator":"In","values":["{5}"]}}]}}]}}}}}}}},
             "status":{{"phase":"{6}","conditions":[{{"type":"Ready","status":"{7}","lastTransitionTime":"2025-12-31T00:00:00Z"}}]}}}})",
          text.name, text.made,
          text.deleted ? R"(,"deletionTimestamp":"2026-01-01T00:00:30Z")" : "", text.hash,
          text.bound ? text.node : "", text.node, text.phase, text.ready ? "True" : "False"),
      revision);
}

}  // namespace muster::controllers
