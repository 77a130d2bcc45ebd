#include "controllers/jobset/job_maker.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/reading.h"
#include "api/validation/job_set_form.h"
#include "api/values/names.h"
#include "base/sha1.h"
#include "client/client.h"
#include "controllers/common/owners.h"
#include "controllers/jobset/child_jobs.h"
#include "controllers/jobset/job_set_keys.h"
#include "workload/job_set.h"

namespace muster::controllers {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

JsonObject expression(std::string_view oper, JsonArray values,
                      std::string_view key = job_set::kJobKey) {
  JsonObject out{{"key", key}, {"operator", oper}};
  if (!values.empty()) out["values"] = std::move(values);
  return out;
}

// Pods of any namespace whose job-key is such.
JsonObject term(JsonArray expressions, std::string_view topology_key) {
  return {{"labelSelector", JsonObject{{"matchExpressions", std::move(expressions)}}},
          {"namespaceSelector", JsonObject()},
          {"topologyKey", topology_key}};
}

void add_term(JsonObject& pod, std::string_view member, JsonObject added) {
  JsonObject& affinity = api::ensure_object(api::ensure_object(pod, "affinity"), member);
  api::ensure_array(affinity, "requiredDuringSchedulingIgnoredDuringExecution")
      .push_back(std::move(added));
}

// Those of `added` that are not in `list` yet, behind it.
JsonArray joined(JsonArray list, const JsonArray& added) {
  for (const Json& each : added)
    if (std::ranges::find(list, each) == list.end()) list.push_back(each);
  return list;
}

JsonObject with_uid(const api::Object& object, JsonObject spec) {
  return {{"metadata", JsonObject{{"uid", object.meta().uid}}}, {"spec", std::move(spec)}};
}

}  // namespace

JobMaker::JobMaker(const api::Object& set, PriorityOf priority_of)
    : set_(set),
      view_(set.view<api::JobSetView>()),
      document_(set.document()),
      priority_of_(std::move(priority_of)),
      claims_(shared_claims(set, document_)) {}

const Json& JobMaker::template_of(std::size_t entry) const {
  const JsonArray& jobs = api::elements(api::part_of(document_, "spec"), "replicatedJobs");
  return api::part_of(jobs.at(entry), "template");
}

std::string JobMaker::coordinator() const {
  const Json* said = api::find_set(api::part_of(document_, "spec"), "coordinator");
  if (said == nullptr) return {};
  return fmt::format("{}-{}-{}-{}.{}", set_.meta().name, api::find_string(*said, "replicatedJob"),
                     api::find_integer(*said, "jobIndex").value_or(0),
                     api::find_integer(*said, "podIndex").value_or(0), view_.subdomain);
}

JobMaker::Pairs JobMaker::marks(std::size_t entry, std::int32_t index) const {
  const api::JobSetView::ReplicatedJob& job = view_.jobs[entry];
  std::int64_t all = 0, before = 0, in_group = 0, before_in_group = 0;
  for (std::size_t at = 0; at < view_.jobs.size(); ++at) {
    const api::JobSetView::ReplicatedJob& other = view_.jobs[at];
    all += other.replicas;
    if (at < entry) before += other.replicas;
    if (other.group != job.group) continue;
    in_group += other.replicas;
    if (at < entry) before_in_group += other.replicas;
  }
  const std::string name = child_name(set_.meta().name, job.name, index);
  Pairs out{
      {job_set::kSetName, set_.meta().name},
      {job_set::kSetUid, set_.meta().uid},
      {job_set::kJobName, job.name},
      {job_set::kJobReplicas, std::to_string(job.replicas)},
      {job_set::kGlobalReplicas, std::to_string(all)},
      {job_set::kJobIndex, std::to_string(index)},
      {job_set::kGlobalIndex, std::to_string(before + index)},
      {job_set::kJobKey, sha1_hex(set_.meta().name_space + "/" + name)},
      {job_set::kGroupName, job.group},
      {job_set::kGroupReplicas, std::to_string(in_group)},
      {job_set::kGroupIndex, std::to_string(before_in_group + index)},
      {job_set::kRestartAttempt, std::to_string(view_.status.restarts)},
      {job_set::kJobRestartAttempt, std::to_string(job_restarts(view_, entry, index))},
  };
  if (std::string where = coordinator(); !where.empty())
    out.emplace_back(job_set::kCoordinator, std::move(where));
  return out;
}

// One Job per domain. A Job that is a group of its own is held in one domain by its group; others
// follow their first pod. Both keep out pods of other Jobs of the same priority: those of others
// may be preempted, or will preempt. No pod waits for another to be bound.
void JobMaker::place_exclusively(std::size_t entry, const std::string& job, bool grouped,
                                 JsonObject& pod_template) const {
  const Json& job_template = template_of(entry);
  const std::string key = std::string(api::exclusive_topology(document_, job_template));
  if (key.empty()) return;
  JsonObject& pod = api::ensure_object(pod_template, "spec");
  const auto says = [&](const Json& holder) {
    return api::members(api::part_of(holder, "metadata"), "annotations")
        .contains(job_set::kNodeSelectorStrategy);
  };
  if (says(document_) || says(job_template)) {
    api::ensure_object(pod, "nodeSelector")[job_set::kNamespacedJob] =
        fmt::format("{}_{}", set_.meta().name_space, job);
    api::ensure_array(pod, "tolerations")
        .push_back(JsonObject{
            {"key", job_set::kNoSchedule}, {"operator", "Exists"}, {"effect", "NoSchedule"}});
    return;
  }
  const std::string own = sha1_hex(set_.meta().name_space + "/" + job);
  if (!grouped) add_term(pod, "podAffinity", term({expression("In", {own})}, key));
  const Json& pod_spec =
      api::part_of(api::part_of(api::part_of(job_template, "spec"), "template"), "spec");
  const std::string_view priority_class = api::find_string(pod_spec, "priorityClassName");
  const std::string priority =
      std::to_string(priority_of_ ? priority_of_(priority_class) : std::int64_t{0});
  add_term(pod, "podAntiAffinity",
           term({expression("Exists", {}), expression("NotIn", {own}),
                 expression("In", {priority}, job_set::kPriority)},
                key));
  JsonObject& metadata = api::ensure_object(pod_template, "metadata");
  api::ensure_object(metadata, "labels")[job_set::kPriority] = priority;
}

Json JobMaker::make(std::size_t entry, std::int32_t index, const GroupLink& link) const {
  const Json& from = template_of(entry);
  const std::string name = child_name(set_.meta().name, view_.jobs[entry].name, index);
  JsonObject metadata{{"name", name}, {"namespace", set_.meta().name_space}};
  for (const std::string_view member : {"labels", "annotations"})
    metadata[member] = api::members(api::part_of(from, "metadata"), member);
  metadata["ownerReferences"] = JsonArray{owner_reference(set_)};
  if (!link.template_name.empty()) {
    JsonObject& annotations = api::ensure_object(metadata, "annotations");
    annotations[workload::kGroupTemplateAnnotation] = link.template_name;
    if (!link.parent.empty()) annotations[workload::kParentCompositeAnnotation] = link.parent;
  }

  JsonObject spec = api::members(from, "spec");
  spec.erase("scheduling");  // the set has made its Workload of it
  spec["suspend"] = view_.suspend;
  JsonObject& pod_template = api::ensure_object(spec, "template");
  for (const auto& [key, value] : marks(entry, index))
    for (JsonObject* holder : {&metadata, &api::ensure_object(pod_template, "metadata")}) {
      api::ensure_object(*holder, "annotations")[key] = value;
      if (api::check_label_value(value).empty()) api::ensure_object(*holder, "labels")[key] = value;
    }
  JsonObject& pod = api::ensure_object(pod_template, "spec");
  if (view_.dns_hostnames) pod["subdomain"] = view_.subdomain;
  if (!link.pod_group.empty())
    pod["schedulingGroup"] = JsonObject{{"podGroupName", link.pod_group}};
  add_claim_volumes(claims_, pod);
  place_exclusively(entry, name, link != GroupLink{}, pod_template);
  return JsonObject{{"metadata", std::move(metadata)}, {"spec", std::move(spec)}};
}

api::Request JobMaker::resume_request(const api::Object& job, std::size_t entry,
                                      std::int32_t index) const {
  const Json document = job.document();
  const Json& now = api::part_of(api::part_of(document, "spec"), "template");
  const Json& wanted = api::part_of(api::part_of(template_of(entry), "spec"), "template");
  JsonObject metadata, pod;
  for (const std::string_view member : {"labels", "annotations"}) {
    JsonObject merged = api::members(api::part_of(wanted, "metadata"), member);
    for (const auto& [key, value] : marks(entry, index))
      if (member == "annotations" || api::check_label_value(value).empty()) merged[key] = value;
    metadata[member] = std::move(merged);
  }
  const Json& pod_now = api::part_of(now, "spec");
  const Json& pod_wanted = api::part_of(wanted, "spec");
  if (const JsonObject& selector = api::members(pod_wanted, "nodeSelector"); !selector.empty())
    pod["nodeSelector"] = selector;
  for (const std::string_view member : {"tolerations", "schedulingGates"})
    if (const JsonArray& added = api::elements(pod_wanted, member); !added.empty())
      pod[member] = joined(api::elements(pod_now, member), added);
  JsonObject spec{{"suspend", false}, {"template", JsonObject{{"metadata", std::move(metadata)}}}};
  if (!pod.empty()) spec["template"].as_object()["spec"] = std::move(pod);
  return client::patch_request(job.kind(), job.meta().name_space, job.meta().name, "",
                               api::PatchType::Merge, with_uid(job, std::move(spec)));
}

api::Request service_request(const api::Object& set) {
  const auto& view = set.view<api::JobSetView>();
  return client::create_request(
      *api::find_kind("", "Service"), set.meta().name_space,
      JsonObject{
          {"metadata", JsonObject{{"name", view.subdomain},
                                  {"namespace", set.meta().name_space},
                                  {"labels", JsonObject{{job_set::kSetName, set.meta().name}}},
                                  {"ownerReferences", JsonArray{owner_reference(set)}}}},
          {"spec", JsonObject{{"clusterIP", "None"},
                              {"selector", JsonObject{{job_set::kSetName, set.meta().name}}},
                              {"publishNotReadyAddresses", view.publish_not_ready}}}});
}

}  // namespace muster::controllers
