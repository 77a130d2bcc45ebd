#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "explain/explain.h"
#include "scheduler/cache/sample_objects.h"
#include "scheduler/plugins/default_profile.h"

// For tests only: clusters and groups in a line each.
namespace muster::explain {

using scheduler::GroupKey;
using scheduler::GroupKind;
using scheduler::NodeSample;
using scheduler::PodSample;

struct GroupSample {
  std::string name;
  std::int64_t minimum = 0;  // 0: basic
  std::string key = {};      // topology
  std::string parent = {};
  std::int32_t priority = 0;
  std::string workload = {};
  std::string from = {};         // template
  std::string reason = {};       // of the condition that says it was not scheduled
  std::string annotations = {};  // members of an object
  std::string maker = {};        // kind of a controller named "maker"
  bool composite = false;
  bool is_deleted = false;

  api::ObjectPtr make() const {
    const std::string policy = minimum == 0
                                   ? R"("basic":{})"
                                   : fmt::format(R"("gang":{{"{}":{}}})",
                                                 composite ? "minGroupCount" : "minCount", minimum);
    std::string spec = fmt::format(R"("schedulingPolicy":{{{}}},"priority":{})", policy, priority);
    if (!key.empty())
      spec += fmt::format(R"(,"schedulingConstraints":{{"topology":[{{"key":"{}"}}]}})", key);
    if (!parent.empty()) spec += fmt::format(R"(,"parentCompositePodGroupName":"{}")", parent);
    if (!workload.empty())
      spec += fmt::format(R"(,"workloadRef":{{"workloadName":"{}","templateName":"{}"}})", workload,
                          from);
    const std::string status =
        reason.empty()
            ? ""
            : fmt::format(
                  R"("conditions":[{{"type":"{}InitiallyScheduled","status":"False","reason":"{}","message":"as it is."}}])",
                  composite ? "CompositePodGroup" : "PodGroup", reason);
    const auto document = api::parse_json(fmt::format(
        R"({{"metadata":{{"name":"{0}","namespace":"default","uid":"group-{0}","annotations":{{{4}}},"ownerReferences":[{5}]{3}}},"spec":{{{1}}},"status":{{{2}}}}})",
        name, spec, status, is_deleted ? R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")" : "",
        annotations,
        maker.empty()
            ? ""
            : fmt::format(
                  R"({{"apiVersion":"jobset.x-k8s.io/v1","kind":"{}","name":"maker","uid":"m","controller":true}})",
                  maker)));
    return api::Object::make(
        composite ? api::kinds::composite_pod_group() : api::kinds::pod_group(), document->value);
  }
};

// A cluster under construction.
struct Yard {
  Objects objects;

  // `count` nodes of a rack, each with so many CPUs; `used` CPUs are taken on the first nodes, by
  // lone pods named used-NODE.
  Yard& rack(const std::string& name, int count, int cpus, int used = 0,
             const std::string& block = "b1") {
    for (int i = 0; i < count; ++i) {
      const std::string node = fmt::format("{}-{}", name, i);
      add_node({.name = node,
                .cpu = std::to_string(cpus),
                .labels = {{"rack", name}, {"block", block}, {"kubernetes.io/hostname", node}}});
      const int here = std::min(used, cpus);
      used -= here;
      if (here > 0)
        add_pod({.name = "used-" + node, .cpu = std::to_string(here), .node_name = node});
    }
    return *this;
  }
  Yard& add_node(const NodeSample& node) {
    objects.nodes.push_back(node.make());
    return *this;
  }
  Yard& add_pod(const PodSample& pod) {
    objects.pods.push_back(pod.make());
    return *this;
  }
  Yard& group(const GroupSample& group) {
    objects.groups.push_back(group.make());
    return *this;
  }
  // A PodGroup with pods NAME-0, NAME-1, ... that all ask for `cpu`.
  Yard& gang(const GroupSample& sample, int pods, const std::string& cpu,
             const std::string& node = "") {
    group(sample);
    for (int i = 0; i < pods; ++i)
      add_pod({.name = fmt::format("{}-{}", sample.name, i),
               .cpu = cpu,
               .node_name = node,
               .group = sample.name,
               .priority = sample.priority});
    return *this;
  }
  Yard& workload(std::string_view name, std::string_view spec) {
    const auto document = api::parse_json(fmt::format(
        R"({{"metadata":{{"name":"{}","namespace":"default"}},"spec":{}}})", name, spec));
    objects.workloads.push_back(api::Object::make(api::kinds::workload(), document->value));
    return *this;
  }
  Yard& composite(GroupSample sample) {
    sample.composite = true;
    return group(sample);
  }

  Result<Explanation> ask(const Subject& subject) const {
    return explain(objects, subject, scheduler::default_profile(), {});
  }
  Result<Explanation> ask(const std::string& pod_group) const {
    return ask(GroupKey{GroupKind::PodGroup, "default", pod_group});
  }
  Result<Explanation> ask_composite(const std::string& name) const {
    return ask(GroupKey{GroupKind::CompositePodGroup, "default", name});
  }
  Result<Explanation> ask_pod(const std::string& name) const {
    return ask(PodKey{"default", name});
  }
};

// The objects after a change, for those who want to try it afresh.
inline Objects edited(Objects objects, const Edits& edits) {
  for (const Edit& edit : edits) {
    const api::Kind& kind = (edit.before != nullptr ? edit.before : edit.after)->kind();
    auto& list = &kind == &api::kinds::node()  ? objects.nodes
                 : &kind == &api::kinds::pod() ? objects.pods
                                               : objects.groups;
    if (edit.before != nullptr) std::erase(list, edit.before);
    if (edit.after != nullptr) list.push_back(edit.after);
  }
  return objects;
}

}  // namespace muster::explain
