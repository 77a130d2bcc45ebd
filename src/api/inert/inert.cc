#include "api/inert/inert.h"

#include <boost/container/flat_map.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace muster::api {
namespace {

constexpr std::string_view kNoProbes =
    "pretend nodes run no probes, and a pod is ready as soon as it runs";
constexpr std::string_view kNoRestarts =
    "pretend nodes run no probes, and restart no container for it";
constexpr std::string_view kPodPolicy = "pretend nodes follow the restartPolicy of the pod alone";
constexpr std::string_view kNoPods = "no pods are created for it";
constexpr std::string_view kNoDevices = "no devices are allocated to it";
constexpr std::string_view kNoTraffic = "no traffic is routed by it";
constexpr std::string_view kBatch = "batch";
constexpr std::string_view kScheduling = "scheduling.k8s.io";
constexpr std::string_view kResource = "resource.k8s.io";
constexpr std::string_view kStorage = "storage.k8s.io";

constexpr InertRule kRules[] = {
    // Kinds.
    {"", "Endpoints", "", "", kNoTraffic, ""},
    {"", "ReplicationController", "", "", kNoPods, ""},
    {"", "Service", "", "", kNoTraffic, ""},
    {"discovery.k8s.io", "EndpointSlice", "", "", kNoTraffic, ""},
    {kResource, "DeviceClass", "", "", "no devices are allocated by it", ""},
    {kResource, "DeviceTaintRule", "", "", "no device is tainted by it", ""},
    {kResource, "ResourceClaim", "", "", kNoDevices, ""},
    {kResource, "ResourceClaimTemplate", "", "", "no claims are made from it", ""},
    {kResource, "ResourceSlice", "", "", "no devices are allocated from it", ""},
    {kStorage, "VolumeAttachment", "", "", "no volume is attached by it", ""},
    {kStorage, "VolumeAttributesClass", "", "", "no volume is changed by it", ""},
    // Fields.
    {"", "PersistentVolume", "spec.persistentVolumeReclaimPolicy", "Recycle",
     "a volume stays as it is when its claim is gone", ""},
    {"", "PersistentVolumeClaim", "spec.dataSource", "", "the volume is made empty", ""},
    {"", "PersistentVolumeClaim", "spec.dataSourceRef", "", "the volume is made empty", ""},
    {"", "Secret", "type", "kubernetes.io/service-account-token",
     "no token is put into it; kubectl create token makes one", ""},
    {"", "Secret", "type", "bootstrap.kubernetes.io/token", "nobody can sign in with it", ""},
    {"apps", "StatefulSet", "spec.updateStrategy.type", "Recreate",
     "pods are replaced as by RollingUpdate", ""},
    {kScheduling, "PodGroup", "spec.resourceClaims", "", kNoDevices, ""},
    {kScheduling, "Workload", "spec.podGroupTemplates[].resourceClaims", "", kNoDevices, ""},
    {kStorage, "StorageClass", "allowVolumeExpansion", "true",
     "volumes keep the size they were made with", ""},
    // Fields of pods and of the templates of pods.
    {"", "Pod", "activeDeadlineSeconds", "", "pretend nodes end no pod for it", ""},
    {"", "Pod", "containers[].lifecycle", "", "pretend nodes run no hooks", ""},
    {"", "Pod", "containers[].livenessProbe", "", kNoRestarts, ""},
    {"", "Pod", "containers[].readinessProbe", "", kNoProbes, ""},
    {"", "Pod", "containers[].restartPolicy", "", kPodPolicy, ""},
    {"", "Pod", "containers[].restartPolicyRules", "", kPodPolicy, ""},
    {"", "Pod", "containers[].startupProbe", "", kNoProbes, ""},
    {"", "Pod", "initContainers[].restartPolicy", "Always",
     "pretend nodes end it like any other init container", ""},
    {"", "Pod", "readinessGates", "",
     "pretend nodes do not wait for its conditions, and a pod is ready as soon as it runs", ""},
    {"", "Pod", "resourceClaims", "", "no devices are allocated to it, and the pod is not bound",
     ""},
    {"", "Pod", "runtimeClassName", "",
     "there are no RuntimeClasses, and nothing is added to what the pod asks for", ""},
    // What is acted on unless its component is switched off.
    {"", "Namespace", "", "", "it gets no ConfigMap kube-root-ca.crt", "namespace-defaults"},
    {"", "Pod", "", "", "no node is chosen for it", "scheduler"},
    {"apps", "DaemonSet", "", "", kNoPods, "daemonset"},
    {"apps", "Deployment", "", "", "no ReplicaSets are created for it", "deployment"},
    {"apps", "ReplicaSet", "", "", kNoPods, "replicaset"},
    {"apps", "StatefulSet", "", "", kNoPods, "statefulset"},
    {kBatch, "CronJob", "", "", "no Jobs are created for it", "cronjob"},
    {kBatch, "Job", "", "", kNoPods, "job"},
    {kBatch, "Job", "spec.ttlSecondsAfterFinished", "", "it stays after it has finished",
     "ttl-after-finished"},
    {"jobset.x-k8s.io", "JobSet", "", "", "no Jobs are created for it", "jobset"},
    {"leaderworkerset.x-k8s.io", "LeaderWorkerSet", "", "", kNoPods, "leaderworkerset"},
    {"policy", "PodDisruptionBudget", "", "", "its status is not kept, and no eviction is allowed",
     "disruption"},
    {"rbac.authorization.k8s.io", "ClusterRole", "aggregationRule", "", "no rules are added to it",
     "clusterrole-aggregation"},
    {kScheduling, "CompositePodGroup", "", "", "it is not scheduled", "scheduler"},
    {kScheduling, "PodGroup", "", "", "it is not scheduled", "scheduler"},
};

constexpr TemplatePlace kTemplates[] = {
    {"", "PodTemplate", "template"},
    {"", "ReplicationController", "spec.template"},
    {"apps", "DaemonSet", "spec.template"},
    {"apps", "Deployment", "spec.template"},
    {"apps", "ReplicaSet", "spec.template"},
    {"apps", "StatefulSet", "spec.template"},
    {kBatch, "CronJob", "spec.jobTemplate.spec.template"},
    {kBatch, "Job", "spec.template"},
    {"jobset.x-k8s.io", "JobSet", "spec.replicatedJobs[].template.spec.template"},
    {"leaderworkerset.x-k8s.io", "LeaderWorkerSet", "spec.leaderWorkerTemplate.leaderTemplate"},
    {"leaderworkerset.x-k8s.io", "LeaderWorkerSet", "spec.leaderWorkerTemplate.workerTemplate"},
};

// A rule with its whole path in one kind.
struct Placed {
  const InertRule* rule;
  std::string path;
  std::string mark;  // stands in the bytes of every object for which the rule holds
};

bool is_about(const Kind& kind, std::string_view group, std::string_view name) {
  return kind.kind == name && kind.group == group;
}

Placed placed(const InertRule& rule, std::string path) {
  const std::string_view last = std::string_view(path).substr(path.rfind('.') + 1);
  std::string mark = path.empty() ? std::string() : fmt::format("\"{}\":", last);
  return {&rule, std::move(path), std::move(mark)};
}

std::vector<Placed> rules_for(const Kind& kind) {
  std::vector<Placed> out;
  for (const InertRule& rule : kRules) {
    const bool of_pods = rule.group.empty() && rule.kind == "Pod" && !rule.field.empty();
    if (is_about(kind, rule.group, rule.kind))
      out.push_back(
          placed(rule, of_pods ? fmt::format("spec.{}", rule.field) : std::string(rule.field)));
    if (!of_pods) continue;
    for (const TemplatePlace& place : kTemplates)
      if (is_about(kind, place.group, place.kind))
        out.push_back(placed(rule, fmt::format("{}.spec.{}", place.path, rule.field)));
  }
  return out;
}

using RulesByKind = boost::container::flat_map<const Kind*, std::vector<Placed>>;
const std::vector<Placed>& placed_rules(const Kind& kind) {
  static const RulesByKind kByKind = [] {
    RulesByKind all;
    for (const Kind* each : all_kinds())
      if (std::vector<Placed> rules = rules_for(*each); !rules.empty())
        all.emplace(each, std::move(rules));
    return all;
  }();
  static const std::vector<Placed> kNone;
  const auto at = kByKind.find(&kind);
  return at == kByKind.end() ? kNone : at->second;
}

// Whether the value says something, and what the rule is about.
bool counts(const Json& found, std::string_view value) {
  if (found.is_string())
    return value.empty() ? !found.get_string().empty() : found.get_string() == value;
  if (found.is_bool()) return found.get_bool() && (value.empty() || value == "true");
  if (!value.empty() || found.is_null()) return false;
  if (found.is_array()) return !found.get_array().empty();
  return true;
}

// The first place at which the path leads to a value that counts: "spec.containers[2].lifecycle".
// As long as the document at most: each step goes one member down.
std::optional<std::string> find_place(const Json& from, std::string_view path,
                                      std::string_view value) {
  const std::size_t dot = std::min(path.find('.'), path.size());
  std::string_view step = path.substr(0, dot);
  const std::string_view rest = path.substr(std::min(dot + 1, path.size()));
  const bool is_list = step.ends_with("[]");
  if (is_list) step.remove_suffix(2);
  const Json* const found = find(from, step);
  if (found == nullptr) return std::nullopt;
  if (!is_list) {
    if (rest.empty())
      return counts(*found, value) ? std::optional(std::string(step)) : std::nullopt;
    const std::optional<std::string> below = find_place(*found, rest, value);
    return below ? std::optional(fmt::format("{}.{}", step, *below)) : std::nullopt;
  }
  if (!found->is_array()) return std::nullopt;
  for (std::size_t i = 0; i < found->get_array().size(); ++i)
    if (const auto below = find_place(found->get_array()[i], rest, value))
      return fmt::format("{}[{}].{}", step, i, *below);
  return std::nullopt;
}

bool holds_now(const InertRule& rule, const Absent& absent, InertBecause because) {
  if (rule.component.empty()) return because == InertBecause::Anything;
  return absent.contains(rule.component);
}

std::string sentence(const Kind& kind, const InertRule& rule, std::string_view place) {
  std::string what = place.empty() ? kind.kind : std::string(place);
  if (!rule.value.empty()) what += fmt::format(": {}", rule.value);
  const std::string why =
      rule.component.empty()
          ? "nothing in this control plane acts on it"
          : fmt::format("{} is switched off, and nothing else acts on it", rule.component);
  return fmt::format("{} is stored, but {}: {}", what, why, rule.consequence);
}

}  // namespace

std::span<const InertRule> inert_rules() { return kRules; }
std::span<const TemplatePlace> template_places() { return kTemplates; }
bool may_be_inert(const Kind& kind) { return !placed_rules(kind).empty(); }

std::vector<std::string> inert_sentences(const Kind& kind, const Json& document,
                                         const Absent& absent, InertBecause because) {
  std::vector<std::string> out;
  for (const Placed& each : placed_rules(kind)) {
    if (!holds_now(*each.rule, absent, because)) continue;
    if (each.path.empty())
      out.push_back(sentence(kind, *each.rule, {}));
    else if (const auto place = find_place(document, each.path, each.rule->value))
      out.push_back(sentence(kind, *each.rule, *place));
  }
  return out;
}

bool could_be_inert(const Kind& kind, std::string_view bytes, const Absent& absent) {
  return std::ranges::any_of(placed_rules(kind), [&](const Placed& each) {
    return holds_now(*each.rule, absent, InertBecause::Anything) &&
           (each.mark.empty() || bytes.find(each.mark) != std::string_view::npos);
  });
}

}  // namespace muster::api
