#include "controllers/leaderworkerset/lws_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "api/reading.h"
#include "base/check.h"
#include "base/sha1.h"
#include "client/client.h"
#include "controllers/common/owners.h"
#include "controllers/statefulset/stateful_objects.h"

namespace muster::controllers {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;
using workload::kLwsGroupIndex;
using workload::kLwsName;
using workload::kLwsRevision;

const Json& group_of_spec(const Json& spec) { return api::part_of(spec, "leaderWorkerTemplate"); }

bool has_own_subdomains(const Json& spec) {
  return api::find_string(api::part_of(spec, "networkConfig"), "subdomainPolicy") ==
         "UniquePerReplica";
}

// Annotations that tell pods of the shape of their replica.
void add_shape(const api::Object& set, const Json& spec, JsonObject& annotations) {
  const Json& group = group_of_spec(spec);
  annotations[kLwsSize] = std::to_string(api::find_integer(group, "size").value_or(1));
  for (const std::string_view key : {kLwsExclusive, kLwsSubgroupExclusive})
    if (const std::string* topology = api::lookup(set.meta().annotations, key))
      annotations[key] = *topology;
  if (const Json* policy = api::find_set(group, "subGroupPolicy")) {
    annotations[kLwsSubgroupSize] =
        std::to_string(api::find_integer(*policy, "subGroupSize").value_or(1));
    annotations[kLwsSubgroupType] = api::find_string(*policy, "subGroupPolicyType");
  }
  if (has_own_subdomains(spec)) annotations[kLwsSubdomain] = "UniquePerReplica";
}

JsonObject pod_template(const api::Object& set, const Json& spec, std::string_view member,
                        const JsonObject& labels, const JsonObject& annotations) {
  const Json* found = api::find_set(group_of_spec(spec), member);
  if (found == nullptr) found = &api::part_of(group_of_spec(spec), "workerTemplate");
  JsonObject out = found->is_object() ? found->get_object() : JsonObject();
  JsonObject& metadata = api::ensure_object(out, "metadata");
  JsonObject& all = api::ensure_object(metadata, "labels");
  for (const auto& label : labels) all[label.key()] = label.value();
  JsonObject& notes = api::ensure_object(metadata, "annotations");
  for (const auto& note : annotations) notes[note.key()] = note.value();
  add_shape(set, spec, notes);
  return out;
}

JsonObject leader_template(const api::Object& set, const Json& spec, std::string_view revision) {
  return pod_template(
      set, spec, "leaderTemplate",
      {{kLwsName, set.meta().name}, {kLwsWorkerIndex, "0"}, {kLwsRevision, revision}}, {});
}

JsonObject update_strategy(std::int64_t partition) {
  // How many go at once is decided by the partition alone.
  return {{"type", "RollingUpdate"},
          {"rollingUpdate", JsonObject{{"partition", partition}, {"maxUnavailable", "100%"}}}};
}

JsonObject leader_labels(const api::Object& set, std::string_view revision) {
  return {{kLwsName, set.meta().name}, {kLwsRevision, revision}};
}

JsonObject leader_annotations(const Json& document) {
  return {
      {kLwsReplicas,
       std::to_string(api::find_integer(api::part_of(document, "spec"), "replicas").value_or(1))},
      {kPodsMadeElsewhere, "true"}};
}

void add_claims(const Json& spec, JsonObject& set_spec) {
  for (const std::string_view member :
       {"volumeClaimTemplates", "persistentVolumeClaimRetentionPolicy"})
    if (const Json* value = api::find_set(group_of_spec(spec), member)) set_spec[member] = *value;
}

std::string group_key(std::string_view name_space, std::string_view leader) {
  return sha1_hex(fmt::format("{}/{}", name_space, leader));
}

std::int32_t number_of(const JsonObject& annotations, std::string_view key) {
  const Json* text = annotations.if_contains(key);
  if (text == nullptr) return 0;
  const std::string_view digits = api::text_of(*text);
  std::int32_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

// The leader is one of the first subgroup, or of none.
void add_subgroup(const JsonObject& annotations, std::int32_t size, std::int32_t worker,
                  std::string_view leader, JsonObject& labels) {
  const std::int32_t part = number_of(annotations, kLwsSubgroupSize);
  if (part <= 0) return;
  const Json* type = annotations.if_contains(kLwsSubgroupType);
  const bool excluded = type != nullptr && api::text_of(*type) == "LeaderExcluded";
  if (excluded && worker == 0) return;
  const bool extra_leader = excluded || (size - 1) % part == 0;
  const std::int32_t index = extra_leader ? std::max(0, worker - 1) / part : worker / part;
  labels[kLwsSubgroupIndex] = std::to_string(index);
  labels[kLwsSubgroupKey] = sha1_hex(fmt::format("{}/{}", leader, index));
}

void add_variables(const std::vector<std::pair<std::string_view, std::string>>& variables,
                   JsonObject& spec) {
  for (const std::string_view list : {"initContainers", "containers"}) {
    Json* containers = spec.if_contains(list);
    if (containers == nullptr || !containers->is_array()) continue;
    for (Json& container : containers->get_array()) {
      if (!container.is_object()) continue;
      JsonArray& env = api::ensure_array(container.get_object(), "env");
      const auto is_given = [&](const Json& each) {
        return std::ranges::any_of(variables, [&](const auto& variable) {
          return api::find_string(each, "name") == variable.first;
        });
      };
      // Before the container's own, which may refer to them.
      JsonArray all;
      for (const auto& [name, value] : variables)
        all.push_back(JsonObject{{"name", name}, {"value", value}});
      for (Json& each : env)
        if (!is_given(each)) all.push_back(std::move(each));
      env = std::move(all);
    }
  }
}

// Pods of one key only in a domain, and all of them in the same.
void add_exclusive(std::string_view topology, std::string_view label, std::string_view key,
                   JsonObject& spec) {
  JsonObject& affinity = api::ensure_object(spec, "affinity");
  const auto term = [&](std::string_view op) {
    JsonArray expressions{JsonObject{{"key", label}, {"operator", op}, {"values", JsonArray{key}}}};
    if (op == "NotIn") expressions.push_back(JsonObject{{"key", label}, {"operator", "Exists"}});
    return JsonObject{{"labelSelector", JsonObject{{"matchExpressions", std::move(expressions)}}},
                      {"topologyKey", topology}};
  };
  constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  api::ensure_array(api::ensure_object(affinity, "podAffinity"), kRequired).push_back(term("In"));
  api::ensure_array(api::ensure_object(affinity, "podAntiAffinity"), kRequired)
      .push_back(term("NotIn"));
}

JsonArray conditions_of(const api::Object& set, const std::vector<api::Condition>& conditions,
                        Time now) {
  const Json document = set.document();
  JsonArray out;
  for (const api::Condition& condition : conditions) {
    std::string since = format_time(now);
    for (const Json& each : api::elements(api::part_of(document, "status"), "conditions"))
      if (api::find_string(each, "type") == condition.type &&
          api::find_string(each, "status") == condition.status)
        since = api::find_string(each, "lastTransitionTime");
    out.push_back(JsonObject{{"type", condition.type},
                             {"status", condition.status},
                             {"observedGeneration", condition.observed_generation},
                             {"lastTransitionTime", since},
                             {"reason", condition.reason},
                             {"message", condition.message}});
  }
  return out;
}

}  // namespace

const api::Kind& leader_worker_set_kind() {
  static const api::Kind* const kKind =
      api::find_kind("leaderworkerset.x-k8s.io", "LeaderWorkerSet");
  CHECK(kKind != nullptr);
  return *kKind;
}

const api::Kind& service_kind() {
  static const api::Kind* const kKind = api::find_kind("", "Service");
  CHECK(kKind != nullptr);
  return *kKind;
}

std::string_view lws_revision(const api::Object& object) {
  const std::string* revision = api::lookup(object.meta().labels, kLwsRevision);
  return revision == nullptr ? std::string_view() : std::string_view(*revision);
}

std::int32_t lws_size(const api::Object& leader) {
  const std::string* text = api::lookup(leader.meta().annotations, kLwsSize);
  std::int32_t size = 1;
  if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), size);
  return std::max(1, size);
}

Json lws_revision_data(const Json& set) {
  const Json& spec = api::part_of(set, "spec");
  JsonObject group = api::members(spec, "leaderWorkerTemplate");
  group["$patch"] = "replace";
  JsonObject kept{{"leaderWorkerTemplate", std::move(group)}};
  if (const Json* network = api::find_set(spec, "networkConfig")) kept["networkConfig"] = *network;
  return JsonObject{{"spec", std::move(kept)}};
}

Json lws_revision_spec(const api::Object& revision) {
  const Json document = revision.document();
  JsonObject spec = api::members(api::part_of(document, "data"), "spec");
  api::ensure_object(spec, "leaderWorkerTemplate").erase("$patch");
  return spec;
}

api::Request create_leader_set(const api::Object& set, const Json& document,
                               std::string_view revision, const LwsRollout& rollout) {
  const api::ObjectMeta& meta = set.meta();
  const Json& spec = api::part_of(document, "spec");
  JsonObject set_spec{
      {"replicas", rollout.replicas},
      {"podManagementPolicy", "Parallel"},
      {"serviceName", meta.name},
      {"selector",
       JsonObject{{"matchLabels", JsonObject{{kLwsName, meta.name}, {kLwsWorkerIndex, "0"}}}}},
      {"updateStrategy", update_strategy(rollout.partition)},
      {"template", leader_template(set, spec, revision)}};
  add_claims(spec, set_spec);
  return client::create_request(
      apps_kind("StatefulSet"), meta.name_space,
      JsonObject{{"metadata", JsonObject{{"name", meta.name},
                                         {"namespace", meta.name_space},
                                         {"labels", leader_labels(set, revision)},
                                         {"annotations", leader_annotations(document)},
                                         {"ownerReferences", JsonArray{owner_reference(set)}}}},
                 {"spec", std::move(set_spec)}});
}

api::Request update_leader_set(const api::Object& leader_set, const api::Object& set,
                               const Json& document, std::string_view revision,
                               const LwsRollout& rollout) {
  const auto put = [](std::string_view path, Json value) {
    return JsonObject{{"op", "add"}, {"path", path}, {"value", std::move(value)}};
  };
  JsonArray patch{
      JsonObject{{"op", "test"}, {"path", "/metadata/uid"}, {"value", leader_set.meta().uid}},
      put("/metadata/labels", leader_labels(set, revision)),
      put("/metadata/annotations", leader_annotations(document)),
      put("/spec/replicas", rollout.replicas),
      put("/spec/updateStrategy", update_strategy(rollout.partition))};
  if (lws_revision(leader_set) != revision)
    patch.push_back(
        put("/spec/template", leader_template(set, api::part_of(document, "spec"), revision)));
  return client::patch_request(leader_set.kind(), leader_set.meta().name_space,
                               leader_set.meta().name, "", api::PatchType::JsonPatch,
                               std::move(patch));
}

api::Request create_worker_set(const api::Object& set, const api::Object& leader, const Json& spec,
                               std::string_view pod_group) {
  const api::ObjectMeta& meta = leader.meta();
  const std::string key = group_key(meta.name_space, meta.name);
  const std::string* index = api::lookup(meta.labels, kLwsGroupIndex);
  const JsonObject selector{{kLwsName, set.meta().name},
                            {kLwsGroupIndex, index == nullptr ? "" : *index},
                            {kLwsGroupKey, key}};
  JsonObject labels = selector;
  labels[kLwsRevision] = lws_revision(leader);
  JsonObject from =
      pod_template(set, spec, "workerTemplate", labels, {{kLwsLeaderName, meta.name}});
  if (!pod_group.empty())
    api::ensure_object(from, "spec")["schedulingGroup"] = JsonObject{{"podGroupName", pod_group}};
  JsonObject set_spec{{"replicas", lws_size(leader) - 1},
                      {"ordinals", JsonObject{{"start", 1}}},
                      {"podManagementPolicy", "Parallel"},
                      {"serviceName", has_own_subdomains(spec) ? meta.name : set.meta().name},
                      {"selector", JsonObject{{"matchLabels", selector}}},
                      {"template", std::move(from)}};
  add_claims(spec, set_spec);
  return client::create_request(
      apps_kind("StatefulSet"), meta.name_space,
      JsonObject{{"metadata", JsonObject{{"name", meta.name},
                                         {"namespace", meta.name_space},
                                         {"labels", std::move(labels)},
                                         {"annotations", JsonObject{{kPodsMadeElsewhere, "true"}}},
                                         {"ownerReferences", JsonArray{owner_reference(leader)}}}},
                 {"spec", std::move(set_spec)}});
}

api::Request create_service(const api::Object& set, const api::Object* leader) {
  JsonObject selector{{kLwsName, set.meta().name}};
  const api::Object& owner = leader == nullptr ? set : *leader;
  if (leader != nullptr)
    if (const std::string* index = api::lookup(leader->meta().labels, kLwsGroupIndex))
      selector[kLwsGroupIndex] = *index;
  return client::create_request(
      service_kind(), set.meta().name_space,
      JsonObject{{"metadata", JsonObject{{"name", owner.meta().name},
                                         {"namespace", set.meta().name_space},
                                         {"labels", JsonObject{{kLwsName, set.meta().name}}},
                                         {"ownerReferences", JsonArray{owner_reference(owner)}}}},
                 {"spec", JsonObject{{"clusterIP", "None"},
                                     {"selector", std::move(selector)},
                                     {"publishNotReadyAddresses", true}}}});
}

void place_lws_pod(const LwsPlace& place, Json& pod) {
  JsonObject& document = pod.as_object();
  // All members first: what is added to an object moves those that are in it.
  for (const std::string_view member : {"metadata", "spec"}) api::ensure_object(document, member);
  JsonObject& metadata = api::ensure_object(document, "metadata");
  for (const std::string_view member : {"labels", "annotations"})
    api::ensure_object(metadata, member);
  JsonObject& labels = api::ensure_object(metadata, "labels");
  const JsonObject& annotations = api::ensure_object(metadata, "annotations");
  JsonObject& spec = api::ensure_object(document, "spec");
  const std::string leader = fmt::format("{}-{}", place.set, place.index);
  const std::string name_space(api::find_string(api::part_of(pod, "metadata"), "namespace"));
  const std::string key = group_key(name_space, leader);
  labels[kLwsGroupIndex] = std::to_string(place.index);
  labels[kLwsWorkerIndex] = std::to_string(place.worker);
  labels[kLwsGroupKey] = key;
  const std::int32_t size = std::max(1, number_of(annotations, kLwsSize));
  add_subgroup(annotations, size, place.worker, leader, labels);
  const bool own_subdomain = annotations.contains(kLwsSubdomain);
  if (own_subdomain) spec["subdomain"] = leader;
  add_variables({{"LWS_LEADER_ADDRESS",
                  fmt::format("{}.{}.{}", leader, own_subdomain ? leader : place.set, name_space)},
                 {"LWS_GROUP_SIZE", std::to_string(size)},
                 {"LWS_WORKER_INDEX", std::to_string(place.worker)}},
                spec);
  if (const Json* topology = annotations.if_contains(kLwsExclusive))
    add_exclusive(api::text_of(*topology), kLwsGroupKey, key, spec);
  if (const Json* topology = annotations.if_contains(kLwsSubgroupExclusive);
      topology != nullptr && labels.contains(kLwsSubgroupKey))
    add_exclusive(api::text_of(*topology), kLwsSubgroupKey,
                  api::text_of(labels.at(kLwsSubgroupKey)), spec);
  if (!place.pod_group.empty())
    spec["schedulingGroup"] = JsonObject{{"podGroupName", place.pod_group}};
}

api::Request lws_status_request(const api::Object& set,
                                const api::LeaderWorkerSetView::Status& status, Time now) {
  const auto count = [](std::int32_t value) { return value == 0 ? Json(nullptr) : Json(value); };
  return client::patch_request(
      set.kind(), set.meta().name_space, set.meta().name, "status", api::PatchType::Merge,
      JsonObject{
          {"metadata", JsonObject{{"uid", set.meta().uid}}},
          {"status", JsonObject{{"observedGeneration", status.observed_generation},
                                {"replicas", count(status.replicas)},
                                {"readyReplicas", count(status.ready)},
                                {"updatedReplicas", count(status.updated)},
                                {"hpaPodSelector", status.selector},
                                {"conditions", conditions_of(set, status.conditions, now)}}}});
}

std::string lws_hpa_selector(const api::Object& set) {
  return fmt::format("{}={},{}=0", kLwsName, set.meta().name, kLwsWorkerIndex);
}

}  // namespace muster::controllers
