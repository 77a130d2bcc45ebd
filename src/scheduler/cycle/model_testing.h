#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rapidcheck.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "scheduler/cache/sample_objects.h"
#include "scheduler/groups/cluster_model.h"
#include "scheduler/plugins/default_profile.h"
#include "scheduler/volumes/volumes_testing.h"

// Random objects of every kind that a ClusterModel takes in, so few of each that they meet, and
// random histories of them: what the model answers must depend on nothing but what is there.
namespace muster::scheduler::model_testing {

using api::ObjectPtr;

// All objects by kind and name, as a list of them would show.
using Objects = std::map<std::string, ObjectPtr>;

inline std::string key_of(const ObjectPtr& object) {
  return fmt::format("{}/{}/{}", object->kind().kind, object->meta().name_space,
                     object->meta().name);
}

// At any size: a range that grows with it would leave out most kinds in most runs.
inline int any(int below) { return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, below)); }
inline bool one_in(int n) { return any(n) == 0; }
inline std::string any_of(const std::vector<std::string>& texts) {
  return *rc::gen::elementOf(texts);
}
inline std::string any_app() { return any_of({"web", "db"}); }
inline std::string any_key() { return any_of({"rack", "kubernetes.io/hostname"}); }
inline std::string any_host() { return fmt::format("n{}", any(6)); }
inline std::string any_name_space() { return one_in(6) ? "other" : "default"; }

// The same object under another uid, made at some time: names change hands.
inline ObjectPtr born(const ObjectPtr& object, const std::string& uid, int second) {
  api::Json document = object->document();
  api::JsonObject& metadata = api::ensure_object(document.as_object(), "metadata");
  metadata["uid"] = uid;
  metadata["creationTimestamp"] = fmt::format("2026-01-01T00:00:{:02}Z", second);
  return api::Object::make(object->kind(), document);
}

inline ObjectPtr any_node() {
  NodeSample node{.name = fmt::format("n{}", any(5)), .cpu = std::to_string(1 + any(4))};
  if (!one_in(5)) node.labels["rack"] = fmt::format("r{}", any(2));
  if (!one_in(8)) node.labels["kubernetes.io/hostname"] = node.name;
  if (one_in(3)) node.labels["topology.kubernetes.io/zone"] = any_of({"z1", "z2"});
  node.unschedulable = one_in(8);
  if (one_in(8)) node.taints = R"([{"key":"k","value":"v","effect":"NoSchedule"}])";
  if (one_in(3)) node.extended["example.com/gpu"] = std::to_string(any(3));
  if (one_in(5)) node.status = R"("images":[{"names":["app"],"sizeBytes":500000000}])";
  return node.make();
}

// --- pods ---

inline std::string any_pod_term() {
  const std::string where = one_in(4)   ? R"(,"namespaces":["other"])"
                            : one_in(3) ? R"(,"namespaceSelector":{"matchLabels":{"team":"a"}})"
                                        : "";
  return fmt::format(R"({{"labelSelector":{{"matchLabels":{{"app":"{}"}}}},"topologyKey":"{}"{}}})",
                     any_app(), any_key(), where);
}

inline std::string any_affinity() {
  if (one_in(4))
    return R"("affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[)"
           R"({"weight":7,"preference":{"matchExpressions":[{"key":"rack","operator":"In","values":["r1"]}]}}]}})";
  const std::string terms =
      one_in(2)
          ? fmt::format(R"("requiredDuringSchedulingIgnoredDuringExecution":[{}])", any_pod_term())
          : fmt::format(
                R"("preferredDuringSchedulingIgnoredDuringExecution":[{{"weight":{},"podAffinityTerm":{}}}])",
                1 + any(100), any_pod_term());
  return fmt::format(R"("affinity":{{"{}":{{{}}}}})", any_of({"podAffinity", "podAntiAffinity"}),
                     terms);
}

inline std::string any_spread() {
  const bool is_hard = one_in(2);
  return fmt::format(
      R"("topologySpreadConstraints":[{{"maxSkew":{},"topologyKey":"{}","whenUnsatisfiable":"{}",)"
      R"("labelSelector":{{"matchLabels":{{"app":"{}"}}}}{}}}])",
      1 + any(2), any_key(), is_hard ? "DoNotSchedule" : "ScheduleAnyway", any_app(),
      is_hard && one_in(3) ? R"(,"minDomains":2)" : "");
}

inline std::string any_volumes() {
  if (one_in(4)) return R"("volumes":[{"name":"d","gcePersistentDisk":{"pdName":"disk"}}])";
  const std::string first = fmt::format("c{}", any(4));
  const std::string second = fmt::format("c{}", any(4));
  return first == second ? mounts({first}) : mounts({first, second});
}

// `about_others`: it may ask for other pods, or want to be spread.
inline std::string any_pod_spec(bool about_others) {
  std::vector<std::string> spec;
  if (one_in(12)) spec.emplace_back(R"("schedulerName":"other")");
  if (one_in(8)) spec.emplace_back(R"("schedulingGates":[{"name":"wait"}])");
  if (one_in(12)) spec.emplace_back(R"("preemptionPolicy":"Never")");
  if (one_in(8)) spec.emplace_back(R"("tolerations":[{"key":"k","operator":"Exists"}])");
  if (one_in(12)) spec.emplace_back(R"("nodeSelector":{"rack":"r0"})");
  if (about_others && one_in(4)) spec.push_back(any_affinity());
  if (about_others && one_in(5)) spec.push_back(any_spread());
  if (one_in(4)) spec.push_back(any_volumes());
  return fmt::format("{}", fmt::join(spec, ","));
}

// A pod in any phase of its life, of any group or none.
inline ObjectPtr any_pod(bool about_others) {
  const std::string name = fmt::format("p{}", any(12));
  PodSample pod{.name = name, .cpu = std::to_string(1 + any(2))};
  pod.name_space = any_name_space();
  if (!one_in(3)) pod.group = fmt::format("g{}", any(4));
  if (one_in(8)) pod.priority = 1;
  if (!one_in(4)) pod.labels["app"] = any_app();
  if (one_in(10)) pod.extended["example.com/gpu"] = "1";
  if (one_in(10)) pod.ports = R"([{"containerPort":80,"hostPort":80}])";
  if (one_in(4))
    pod.metadata =
        R"("ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"set0","uid":"set0","controller":true}])";
  pod.spec = any_pod_spec(about_others);
  const int life = any(2);
  const int phase = any(10);
  if (phase >= 5) {
    pod.node_name = any_host();
  } else if (one_in(4)) {
    // Room is kept for a pod as it was when that began: no change of what it needs follows.
    pod = {.name = name,
           .cpu = "1",
           .nominated_node = any_host(),
           .group = pod.group,
           .priority = life,
           .name_space = pod.name_space};
  }
  if (phase == 7) pod.status = R"("phase":"Succeeded")";
  if (phase == 8) pod.status = R"("phase":"Failed")";
  pod.terminating = one_in(8);
  return born(pod.make(), fmt::format("{}-{}-{}", pod.name_space, name, life), any(3));
}

// --- groups ---

inline std::string any_policy(bool is_leaf) {
  if (one_in(5)) return R"("basic":{})";
  return fmt::format(R"("gang":{{"{}":{}}})", is_leaf ? "minCount" : "minGroupCount",
                     1 + any(is_leaf ? 3 : 2));
}

inline ObjectPtr any_group(bool is_leaf) {
  const std::string name = is_leaf ? fmt::format("g{}", any(4)) : fmt::format("c{}", any(3));
  std::string spec = fmt::format(R"("schedulingPolicy":{{{}}},"priority":{})", any_policy(is_leaf),
                                 one_in(12) ? 1 : 0);
  if (one_in(3)) spec += R"(,"schedulingConstraints":{"topology":[{"key":"rack"}]})";
  if (one_in(6)) spec += R"(,"preemptionPolicy":"Never")";
  if (one_in(12)) spec += R"(,"priorityClassName":"high")";
  if (one_in(4)) spec += R"(,"disruptionMode":{"all":{}})";
  // Out of order, missing, in a circle: whatever comes.
  if (!one_in(3)) spec += fmt::format(R"(,"parentCompositePodGroupName":"c{}")", any(4));
  if (one_in(2))
    spec += fmt::format(R"(,"workloadRef":{{"workloadName":"w","templateName":"{}"}})",
                        any_of({"root", "leaf"}));
  std::string annotations;
  if (one_in(5))
    annotations = fmt::format(R"("scheduling.muster.dev/preferred-topology":"{}")",
                              one_in(8) ? "no label" : any_key());
  const ObjectPtr made = object_of(
      is_leaf ? api::kinds::pod_group() : api::kinds::composite_pod_group(),
      fmt::format(
          R"({{"metadata":{{"name":"{}","namespace":"default","annotations":{{{}}}}},"spec":{{{}}},"status":{{}}}})",
          name, annotations, spec));
  return born(made, fmt::format("{}-{}", name, any(2)), any(3));
}

inline ObjectPtr any_workload() {
  const std::string leaf = R"("podGroupTemplates":[{"name":"leaf"}])";
  return object_of(
      api::kinds::workload(),
      fmt::format(
          R"({{"metadata":{{"name":"w","namespace":"default","uid":"w"}},"spec":{{{}}}}})",
          one_in(2) ? leaf
                    : fmt::format(R"("compositePodGroupTemplates":[{{"name":"root",{}}}])", leaf)));
}

// --- what pods and nodes are judged by ---

inline ObjectPtr any_budget() {
  return object_of(
      *api::find_kind("policy", "PodDisruptionBudget"),
      fmt::format(
          R"({{"metadata":{{"name":"b{}","namespace":"{}"}},"spec":{{"selector":{{"matchLabels":{{"app":"{}"}}}}}},)"
          R"("status":{{"disruptionsAllowed":{},"disruptedPods":{{{}}}}}}})",
          any(2), any_name_space(), any_app(), any(2),
          one_in(4) ? R"("p0":"2026-01-01T00:00:00Z")" : ""));
}

inline ObjectPtr any_name_space_object() {
  return namespace_of(any_of({"default", "other"}), {{"team", any_of({"a", "b"})}});
}

inline ObjectPtr any_selector() {
  const std::string app = fmt::format(R"("app":"{}")", any_app());
  const auto make = [](std::string_view group, std::string_view kind, const std::string& name,
                       const std::string& selector) {
    return object_of(
        *api::find_kind(group, kind),
        fmt::format(
            R"({{"metadata":{{"name":"{}","namespace":"{}"}},"spec":{{"selector":{{{}}}}}}})", name,
            any_name_space(), selector));
  };
  const std::string name = fmt::format("set{}", any(2));
  switch (any(4)) {
    case 0: return make("", "ReplicationController", name, app);
    case 1: return make("apps", "ReplicaSet", name, R"("matchLabels":{)" + app + "}");
    case 2: return make("apps", "StatefulSet", name, R"("matchLabels":{)" + app + "}");
    default: return make("", "Service", name, app);
  }
}

// --- storage ---

inline std::string any_class() { return any_of({"fast", "fast", "slow"}); }

inline ObjectPtr any_volume() {
  VolumeSample volume{.name = fmt::format("v{}", any(4)),
                      .storage_class = any_class(),
                      .size = fmt::format("{}Gi", 1 + any(3))};
  if (one_in(3)) volume.claim = fmt::format("c{}", any(4));
  if (one_in(3)) volume.host = any_host();
  if (one_in(4)) volume.labels = R"("topology.kubernetes.io/zone":"z1")";
  return volume.make();
}

inline ObjectPtr any_claim() {
  ClaimSample claim{.name = fmt::format("c{}", any(4)),
                    .storage_class = any_class(),
                    .size = fmt::format("{}Gi", 1 + any(3))};
  if (one_in(2)) claim.volume = fmt::format("v{}", any(4));
  if (one_in(6)) claim.selected_node = any_host();
  if (one_in(4)) claim.mode = "ReadWriteOncePod";
  return claim.make();
}

inline ObjectPtr any_csi_object() {
  switch (any(4)) {
    case 0:
      return object_of(
          api::kinds::csi_node(),
          fmt::format(
              R"({{"metadata":{{"name":"{}"}},"spec":{{"drivers":[{{"name":"csi.example.com","allocatable":{{"count":{}}}}}]}}}})",
              any_host(), any(3)));
    case 1:
      return object_of(
          api::kinds::csi_driver(),
          fmt::format(
              R"({{"metadata":{{"name":"csi.example.com"}},"spec":{{"storageCapacity":{}}}}})",
              one_in(2)));
    case 2:
      return object_of(
          api::kinds::csi_storage_capacity(),
          fmt::format(
              R"({{"metadata":{{"name":"s{}","namespace":"default"}},"storageClassName":"{}",)"
              R"("nodeTopology":{{"matchLabels":{{"rack":"r{}"}}}},"capacity":"{}Gi"}})",
              any(3), any_class(), any(2), 1 + any(4)));
    default:
      return object_of(
          api::kinds::volume_attachment(),
          fmt::format(
              R"({{"metadata":{{"name":"a{}"}},"spec":{{"attacher":"csi.example.com","nodeName":"{}","source":{{"persistentVolumeName":"v{}"}}}}}})",
              any(3), any_host(), any(4)));
  }
}

inline ObjectPtr any_storage() {
  switch (any(4)) {
    case 0: return ClassSample{.name = any_class(), .waits = !one_in(4)}.make();
    case 1: return any_volume();
    case 2: return any_claim();
    default: return any_csi_object();
  }
}

// --- histories ---

inline ObjectPtr any_object(bool about_others) {
  switch (any(16)) {
    case 0:
    case 1:
    case 2: return any_node();
    case 3:
    case 4: return any_group(true);
    case 5: return any_group(false);
    case 6: return one_in(2) ? any_workload() : any_name_space_object();
    case 7: return one_in(2) ? any_budget() : any_selector();
    case 8:
    case 9: return any_storage();
    default: return any_pod(about_others);
  }
}

inline api::Gates any_gates() {
  using api::Gate;
  api::Gates gates;
  if (one_in(8)) gates = gates.without(Gate::CompositePodGroup);
  if (one_in(8)) gates = gates.without(Gate::TopologyAwareWorkloadScheduling);
  if (one_in(4)) gates = gates.without(Gate::PodGroupPreemptionPolicy);
  if (one_in(16)) gates = gates.without(Gate::GenericWorkload);
  return gates;
}

inline std::unique_ptr<ClusterModel> new_model(const api::Gates& gates) {
  ModelOptions options;
  options.gates = gates;
  return std::make_unique<ClusterModel>(default_profile(), options);
}

inline std::unique_ptr<ClusterModel> built_from(const Objects& objects, const api::Gates& gates) {
  auto model = new_model(gates);
  for (const auto& [key, object] : objects) model->put(object);
  return model;
}

// What a failure shows.
inline std::string text_of(const Objects& objects) {
  std::string out;
  for (const auto& [key, object] : objects)
    out += fmt::format("{} {}\n", key, api::to_text(object->document()));
  return out;
}

// Puts or deletes an object, in the model and in the list.
inline void change(ClusterModel& model, Objects& objects, bool about_others = true) {
  const ObjectPtr object = any_object(about_others);
  if (one_in(4)) {
    const auto at = objects.find(key_of(object));
    if (at == objects.end()) return;
    model.remove(*at->second);
    objects.erase(at);
    return;
  }
  model.put(object);
  objects[key_of(object)] = object;
}

}  // namespace muster::scheduler::model_testing
