#include "sim/scenario/cast.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/values/preferred_topology.h"
#include "api/values/well_known.h"
#include "sim/pretend_nodes.h"

namespace muster::sim {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

std::string object_name(std::string path) {
  std::ranges::replace(path, '/', '-');
  return path;
}

bool is_below(std::string_view path, std::string_view above) {
  return path.starts_with(above) && (path.size() == above.size() || path[above.size()] == '/');
}

JsonObject container(const PodLine& line) {
  JsonObject requests;
  JsonObject limits;
  for (const auto& [name, amount] : line.resources) {
    requests[name] = amount;
    if (name.find('/') != std::string::npos) limits[name] = amount;
  }
  JsonObject resources{{"requests", std::move(requests)}};
  if (!limits.empty()) resources["limits"] = std::move(limits);
  JsonObject made{{"name", "main"}, {"image", line.image}, {"resources", std::move(resources)}};
  JsonArray ports;
  for (const int port : line.ports)
    ports.push_back(JsonObject{{"containerPort", port}, {"hostPort", port}, {"protocol", "TCP"}});
  if (!ports.empty()) made["ports"] = std::move(ports);
  return made;
}

JsonObject annotations(const PodLine& line) {
  JsonObject made;
  if (!line.runs_for.empty()) made[kRunTimeAnnotation] = line.runs_for;
  if (!line.stops_in.empty()) made[kStopTimeAnnotation] = line.stops_in;
  if (!line.exit_code.empty()) made[kExitCodeAnnotation] = line.exit_code;
  return made;
}

JsonArray resource_claims_of(const PodLine& line) {
  JsonArray claims;
  for (const std::string& claim : line.resource_claims)
    claims.push_back(JsonObject{{"name", claim}, {"resourceClaimName", claim}});
  return claims;
}

JsonArray volumes_of(const Cast::Pod& pod) {
  std::vector<std::string> claims = pod.line.claims;
  if (pod.line.own_claim) claims.push_back(own_claim_name(pod.name));
  JsonArray volumes;
  for (const std::string& claim : claims)
    volumes.push_back(
        JsonObject{{"name", claim}, {"persistentVolumeClaim", JsonObject{{"claimName", claim}}}});
  return volumes;
}

}  // namespace

std::string priority_class_name(const PriorityLine& line) {
  const std::string name = line.priority < 0 ? fmt::format("minus-{}", -line.priority)
                                             : fmt::format("priority-{}", line.priority);
  return line.never_preempts ? name + "-never" : name;
}

std::string own_claim_name(std::string_view pod) { return fmt::format("{}-data", pod); }

Json claim_manifest(std::string_view name, std::string_view storage_class, std::string_view size) {
  return JsonObject{
      {"metadata", JsonObject{{"name", name}, {"namespace", kScenarioNamespace}}},
      {"spec", JsonObject{{"storageClassName", storage_class},
                          {"accessModes", JsonArray{"ReadWriteOnce"}},
                          {"resources", JsonObject{{"requests", JsonObject{{"storage", size}}}}}}}};
}

std::optional<GroupRole> role_of(std::string_view word) {
  if (word == "gang") return GroupRole::Gang;
  if (word == "basic") return GroupRole::Basic;
  if (word == "workload" || word == "composite") return GroupRole::Composite;
  return std::nullopt;
}

// --- who there is ---

Result<std::size_t> Cast::add(const GroupLine& line) {
  std::optional<std::size_t> parent;
  if (!line.parent.empty())
    for (std::size_t id = 0; id < groups_.size(); ++id)
      if (groups_[id].path == line.parent && !groups_[id].is_leaf() && !groups_[id].retired)
        parent = id;
  const std::size_t id = TRY(add_below(line, parent));
  if (parent) ++groups_[*parent].child_count;
  return id;
}

Result<std::size_t> Cast::add_below(const GroupLine& line, std::optional<std::size_t> parent) {
  const std::string path =
      parent && line.parent.empty() ? groups_[*parent].path + "/" + line.name : line.name;
  for (const Group& known : groups_)
    if (known.path == path && !known.retired &&
        (known.is_leaf() == (line.role != GroupRole::Composite)))
      return fail(Reason::Invalid, "there is a group {} already", path);
  const std::size_t id = groups_.size();
  groups_.push_back({.path = path,
                     .name = object_name(path),
                     .line = line,
                     .parent = parent,
                     .child_count = static_cast<int>(line.children.size())});
  groups_[id].line.children.clear();
  for (const PodLine& pods : line.pods)
    TRY(add_pods(id, pods.name.empty() ? path : path + "/" + pods.name, pods));
  for (const GroupLine& child : line.children) TRY(add_below(child, id));
  return id;
}

Result<void> Cast::add_pods(std::size_t group, const std::string& base, const PodLine& line) {
  for (int i = 0; i < line.count; ++i) TRY(add_pod(fmt::format("{}/{}", base, i), line, group));
  return {};
}

Result<void> Cast::add(const LonePods& lone) {
  if (lone.pods.count == 0) {
    TRY(add_pod(lone.name, lone.pods, std::nullopt));
    return {};
  }
  for (int i = 0; i < lone.pods.count; ++i)
    TRY(add_pod(fmt::format("{}/{}", lone.name, i), lone.pods, std::nullopt));
  return {};
}

Result<std::size_t> Cast::add_pod(std::string path, const PodLine& line,
                                  std::optional<std::size_t> group) {
  const auto taken = std::ranges::find_if(
      pods_, [&](const Pod& known) { return known.path == path && !known.retired; });
  if (taken != pods_.end()) return fail(Reason::Invalid, "there is a pod {} already", path);
  std::string name = object_name(path);
  pods_.push_back({.path = std::move(path), .name = std::move(name), .line = line, .group = group});
  if (group) ++groups_[*group].pod_count;
  return pods_.size() - 1;
}

Result<std::size_t> Cast::add_like(std::size_t group) {
  const Group& to = groups_[group];
  if (to.line.pods.empty()) return fail(Reason::Invalid, "{} has no pods of its own", to.path);
  const PodLine& line = to.line.pods.back();
  const std::string base = line.name.empty() ? to.path : to.path + "/" + line.name;
  for (int i = 0;; ++i) {
    std::string path = fmt::format("{}/{}", base, i);
    // A name that was used before is not used again: the pod may still be about to go.
    if (std::ranges::find(pods_, path, &Pod::path) == pods_.end())
      return add_pod(std::move(path), line, group);
  }
}

std::vector<std::size_t> Cast::subtree(std::size_t group) const {
  std::vector<std::size_t> found{group};
  for (std::size_t at = 0; at < found.size(); ++at)
    for (std::size_t id = 0; id < groups_.size(); ++id)
      if (groups_[id].parent == found[at] && !groups_[id].retired) found.push_back(id);
  return found;
}

std::vector<std::size_t> Cast::members(std::size_t group) const {
  std::vector<std::size_t> found;
  for (const std::size_t id : subtree(group))
    for (std::size_t pod = 0; pod < pods_.size(); ++pod)
      if (pods_[pod].group == id && !pods_[pod].retired) found.push_back(pod);
  return found;
}

int Cast::priority(std::size_t group) const {
  for (std::optional<std::size_t> at = group; at; at = groups_[*at].parent)
    if (groups_[*at].line.priority) return *groups_[*at].line.priority;
  return 0;
}

int Cast::pod_priority(std::size_t id) const {
  const Pod& pod = pods_[id];
  return pod.line.priority.value_or(pod.group ? priority(*pod.group) : 0);
}

bool Cast::never_preempts(std::size_t group) const {
  for (std::optional<std::size_t> at = group; at; at = groups_[*at].parent)
    if (groups_[*at].line.never_preempts) return true;
  return false;
}

bool Cast::pod_never_preempts(std::size_t id) const {
  const Pod& pod = pods_[id];
  return pod.line.never_preempts || (pod.group && never_preempts(*pod.group));
}

Result<Cast::Subject> Cast::find(std::string_view role, std::string_view path) const {
  Subject subject;
  subject.text = path;
  const std::optional<GroupRole> wanted = role_of(role);
  for (std::size_t id = 0; id < groups_.size(); ++id) {
    if (groups_[id].path != path || groups_[id].retired || role == "pod") continue;
    if (wanted && groups_[id].line.role != *wanted) continue;
    if (subject.group)
      return fail(Reason::Invalid,
                  "there are two groups {}: write `gang {}` or `workload {}` to say which", path,
                  path, path);
    subject.group = id;
  }
  if (subject.group) {
    subject.pods = members(*subject.group);
    return subject;
  }
  for (std::size_t id = 0; id < pods_.size(); ++id)
    if (!pods_[id].retired && is_below(pods_[id].path, path)) subject.pods.push_back(id);
  if (subject.pods.empty()) return fail(Reason::NotFound, "nobody here is called {}", path);
  return subject;
}

// --- their objects ---

Json Cast::pod_manifest(std::size_t id, std::string_view node) const {
  const Pod& pod = pods_[id];
  JsonObject spec{{"containers", JsonArray{container(pod.line)}},
                  {"terminationGracePeriodSeconds", 3600},
                  {"restartPolicy", "Never"}};
  if (!node.empty()) spec["nodeName"] = node;
  if (!pod.line.tolerations.empty()) spec["tolerations"] = pod.line.tolerations;
  if (!pod.line.node_selector.empty()) spec["nodeSelector"] = pod.line.node_selector;
  if (JsonArray volumes = volumes_of(pod); !volumes.empty()) spec["volumes"] = std::move(volumes);
  if (!pod.line.company.affinity.empty()) spec["affinity"] = pod.line.company.affinity;
  if (!pod.line.company.spread.empty()) spec["topologySpreadConstraints"] = pod.line.company.spread;
  if (JsonArray claims = resource_claims_of(pod.line); !claims.empty())
    spec["resourceClaims"] = std::move(claims);
  if (pod.line.host_network) spec["hostNetwork"] = true;
  if (pod.line.own_users) spec["hostUsers"] = false;
  if (pod.line.gated) spec["schedulingGates"] = JsonArray{JsonObject{{"name", kScenarioGate}}};
  if (pod.group) spec["schedulingGroup"] = JsonObject{{"podGroupName", groups_[*pod.group].name}};
  if (const int value = pod_priority(id); value != 0)
    spec["priorityClassName"] = priority_class_name({value, pod_never_preempts(id)});
  JsonObject metadata{{"name", pod.name},
                      {"namespace", kScenarioNamespace},
                      {"annotations", annotations(pod.line)}};
  if (!pod.line.company.labels.empty()) metadata["labels"] = pod.line.company.labels;
  return JsonObject{{"metadata", std::move(metadata)}, {"spec", std::move(spec)}};
}

Json Cast::group_manifest(std::size_t id) const {
  const Group& group = groups_[id];
  const GroupLine& line = group.line;
  JsonObject spec;
  const bool is_basic = line.role == GroupRole::Basic || line.basic;
  const std::string_view minimum = group.is_leaf() ? "minCount" : "minGroupCount";
  spec["schedulingPolicy"] =
      is_basic ? JsonObject{{"basic", JsonObject{}}}
               : JsonObject{{"gang", JsonObject{{minimum, std::max(1, group.minimum())}}}};
  if (!line.within.empty())
    spec["schedulingConstraints"] =
        JsonObject{{"topology", JsonArray{JsonObject{{"key", line.within}}}}};
  if (const int value = priority(id); value != 0)
    spec["priorityClassName"] = priority_class_name({value, never_preempts(id)});
  if (line.disrupted_together) spec["disruptionMode"] = JsonObject{{"all", JsonObject{}}};
  std::size_t root = id;
  while (groups_[root].parent) root = *groups_[root].parent;
  const std::string parent = !line.parent.empty() ? object_name(line.parent)
                             : group.parent       ? groups_[*group.parent].name
                                                  : std::string();
  if (!parent.empty()) spec["parentCompositePodGroupName"] = parent;
  if (!parent.empty() || !group.is_leaf())
    spec["workloadRef"] =
        JsonObject{{"workloadName", groups_[root].name}, {"templateName", object_name(line.name)}};
  JsonObject metadata{{"name", group.name}, {"namespace", kScenarioNamespace}};
  JsonObject annotations;
  if (line.expects) annotations[api::kExpectedPodsAnnotation] = fmt::format("{}", *line.expects);
  if (!line.prefers.empty()) annotations[api::kPreferredTopologyAnnotation] = line.prefers;
  if (!line.prefers_for.empty())
    annotations[api::kPreferredTopologyWaitAnnotation] = line.prefers_for;
  if (!annotations.empty()) metadata["annotations"] = std::move(annotations);
  return JsonObject{{"metadata", std::move(metadata)}, {"spec", std::move(spec)}};
}

}  // namespace muster::sim
