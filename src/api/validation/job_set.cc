#include <fmt/format.h>

#include <set>
#include <string>

#include "api/validation/common_rules.h"
#include "api/validation/kind_rules.h"
#include "api/validation/object_meta.h"
#include "api/validation/pod_template.h"
#include "api/validation/reading.h"
#include "api/validation/schema_rules.h"

// JobSets, as their own webhooks judge them (controllers.md 5.1).
namespace muster::api::rules {
namespace {

const FieldPath kSpec("spec");
constexpr std::int64_t kRestartJobReplicasMax = 1024;

void default_member(JsonObject& object, std::string_view member, Json value) {
  const Json* found = object.if_contains(member);
  if (found == nullptr || found->is_null()) object[member] = std::move(value);
}

// The objects in a list, to be edited.
std::span<Json> list_of(JsonObject& object, std::string_view member) {
  Json* found = object.if_contains(member);
  if (found == nullptr || !found->is_array()) return {};
  return {found->get_array().data(), found->get_array().size()};
}

std::set<std::string_view> job_names(const Json& spec) {
  std::set<std::string_view> names;
  for (const Json& job : elements(spec, "replicatedJobs")) names.insert(find_string(job, "name"));
  return names;
}

void validate_targets(const Json& holder, const Json& spec, const FieldPath& path,
                      FieldErrors& errors) {
  const std::set<std::string_view> names = job_names(spec);
  const FieldPath here = path.child("targetReplicatedJobs");
  std::size_t at = 0;
  for (const Json& target : elements(holder, "targetReplicatedJobs")) {
    const FieldPath target_path = here.index(at++);
    if (!names.contains(text_of(target)))
      errors.invalid(target_path, text_of(target),
                     fmt::format("invalid replicatedJob name '{}' does not appear in "
                                 ".spec.ReplicatedJobs",
                                 text_of(target)));
  }
}

// The longest name of a pod: set, job, index of the job, index of the pod, and a suffix.
void validate_names(const Json& set, const Json& job, const FieldPath& path, FieldErrors& errors) {
  const std::string_view name = find_string(job, "name");
  errors.invalid_each(path.child("name"), name, check_dns_1035_label(name));
  const std::int64_t last_job =
      std::max<std::int64_t>(0, find_integer(job, "replicas").value_or(1) - 1);
  const std::string made =
      fmt::format("{}-{}-{}", find_string(part_of(set, "metadata"), "name"), name, last_job);
  if (!check_dns_1035_label(made).empty())
    errors.invalid(path.child("name"), name,
                   fmt::format("job name {} must be a DNS-1035 label", made));
  const Json& job_spec = part_of(part_of(job, "template"), "spec");
  const std::int64_t last_pod =
      std::max<std::int64_t>(0, find_integer(job_spec, "completions").value_or(1) - 1);
  if (find_string(job_spec, "completionMode") == "Indexed" &&
      !check_dns_1035_label(fmt::format("{}-{}-abcde", made, last_pod)).empty())
    errors.invalid(path.child("name"), name,
                   fmt::format("pod name {}-{}-<random> must be a DNS-1035 label", made, last_pod));
}

void validate_dependencies(const Json& spec, FieldErrors& errors) {
  std::set<std::string_view> before;
  const FieldPath path = kSpec.child("replicatedJobs");
  std::size_t at = 0;
  for (const Json& job : elements(spec, "replicatedJobs")) {
    const FieldPath here = path.index(at++);
    const FieldPath list = here.child("dependsOn");
    const JsonArray& dependencies = elements(job, "dependsOn");
    if (at == 1 && !dependencies.empty())
      errors.forbidden(list, "DependsOn can't be set for the first ReplicatedJob");
    std::size_t dependency_at = 0;
    for (const Json& dependency : dependencies) {
      const FieldPath dependency_path = list.index(dependency_at++);
      const std::string_view name = find_string(dependency, "name");
      if (at > 1 && !before.contains(name))
        errors.invalid(dependency_path.child("name"), name,
                       "must be the name of a previous replicatedJob");
    }
    before.insert(find_string(job, "name"));
  }
}

void validate_failure_policy(const Json& spec, FieldErrors& errors) {
  const Json* policy = find_set(spec, "failurePolicy");
  if (policy == nullptr) return;
  const FieldPath path = kSpec.child("failurePolicy");
  not_negative(*policy, {"maxRestarts"}, path, errors);
  const FieldPath rules_path = path.child("rules");
  std::set<std::string_view> names;
  std::size_t at = 0;
  for (const Json& rule : elements(*policy, "rules")) {
    const FieldPath here = rules_path.index(at++);
    const std::string_view name = find_string(rule, "name");
    if (!names.insert(name).second) errors.duplicate(here.child("name"), name);
    validate_targets(rule, spec, here, errors);
    if (!find_string(rule, "action").starts_with("RestartJob") ||
        find_string(rule, "action").starts_with("RestartJobSet"))
      continue;
    for (const Json& job : elements(spec, "replicatedJobs"))
      if (find_integer(job, "replicas").value_or(1) > kRestartJobReplicasMax)
        errors.invalid(here.child("action"), find_string(rule, "action"),
                       fmt::format("needs at most {} replicas of every replicatedJob",
                                   kRestartJobReplicasMax));
  }
}

void validate_jobs(const Json& set, FieldErrors& errors) {
  const Json& spec = part_of(set, "spec");
  const FieldPath path = kSpec.child("replicatedJobs");
  std::set<std::string_view> names;
  std::size_t at = 0;
  for (const Json& job : elements(spec, "replicatedJobs")) {
    const FieldPath here = path.index(at++);
    const std::string_view name = find_string(job, "name");
    if (!names.insert(name).second) errors.duplicate(here.child("name"), name);
    not_negative(job, {"replicas"}, here, errors);
    validate_names(set, job, here, errors);
    if (const auto group = find_string(job, "groupName"); !group.empty())
      errors.invalid_each(here.child("groupName"), group, check_dns_1035_label(group));
    const FieldPath template_path = here.child("template");
    const FieldPath job_path = template_path.child("spec");
    const Json& job_spec = part_of(part_of(job, "template"), "spec");
    not_negative(job_spec, {"parallelism", "completions", "backoffLimit"}, job_path, errors);
    validate_pod_template(part_of(job_spec, "template"), job_path.child("template"), errors);
  }
}

// What a suspended JobSet may still change of its pods.
Json fixed_jobs(const Json& spec) {
  Json out = part_of(spec, "replicatedJobs");
  if (!out.is_array()) return out;
  for (Json& job : out.get_array()) {
    if (!job.is_object()) continue;
    JsonObject& pod_template = ensure_object(
        ensure_object(ensure_object(job.get_object(), "template"), "spec"), "template");
    JsonObject& metadata = ensure_object(pod_template, "metadata");
    metadata.erase("labels");
    metadata.erase("annotations");
    JsonObject& pod = ensure_object(pod_template, "spec");
    for (const std::string_view member : {"nodeSelector", "tolerations", "schedulingGates"})
      pod.erase(member);
  }
  return out;
}

void keep_jobs(const Json& now, const Json& old, FieldErrors& errors) {
  const Json& spec = part_of(now, "spec");
  const Json& before = part_of(old, "spec");
  if (same_meaning(find(spec, "replicatedJobs"), find(before, "replicatedJobs"))) return;
  if (find_true(before, "suspend")) {
    const Json after = fixed_jobs(spec);
    const Json stood = fixed_jobs(before);
    if (same_meaning(&after, &stood)) return;
  }
  errors.invalid(kSpec.child("replicatedJobs"), part_of(spec, "replicatedJobs"), kImmutableField);
}

}  // namespace

void predefault_job_set(JsonObject& set) {
  JsonObject& spec = ensure_object(set, "spec");
  for (Json& job : list_of(spec, "replicatedJobs")) {
    if (!job.is_object()) continue;
    JsonObject& job_spec = ensure_object(ensure_object(job.get_object(), "template"), "spec");
    default_member(job_spec, "completionMode", "Indexed");
    default_member(ensure_object(ensure_object(job_spec, "template"), "spec"), "restartPolicy",
                   "OnFailure");
  }
}

void default_job_set(JsonObject& set) {
  JsonObject& spec = ensure_object(set, "spec");
  for (Json& job : list_of(spec, "replicatedJobs"))
    if (job.is_object())
      default_pod_template(ensure_object(ensure_object(job.get_object(), "template"), "spec"));
  JsonObject& network = ensure_object(spec, "network");
  default_member(network, "enableDNSHostnames", true);
  default_member(network, "publishNotReadyAddresses", true);
  default_member(spec, "successPolicy", JsonObject{{"operator", "All"}});
  default_member(spec, "startupPolicy", JsonObject{{"startupPolicyOrder", "AnyOrder"}});
  Json* policy = spec.if_contains("failurePolicy");
  if (policy == nullptr || !policy->is_object()) return;
  std::size_t at = 0;
  for (Json& rule : list_of(policy->get_object(), "rules")) {
    const std::string name = fmt::format("failurePolicyRule{}", at++);
    if (rule.is_object() && find_string(rule, "name").empty()) rule.get_object()["name"] = name;
  }
}

void validate_job_set(const Json& now, const Json* old, FieldErrors& errors) {
  const Json& spec = part_of(now, "spec");
  validate_jobs(now, errors);
  validate_dependencies(spec, errors);
  validate_failure_policy(spec, errors);
  for (const std::string_view member : {"successPolicy", "startupPolicy", "coordinator"})
    if (const Json* part = find_set(spec, member))
      validate_by_schema(*schema::message("jobset/v1alpha2", "JobSetSpec").find(member)->message,
                         *part, kSpec.child(member), errors);
  if (const Json* policy = find_set(spec, "successPolicy"))
    validate_targets(*policy, spec, kSpec.child("successPolicy"), errors);
  if (const Json* coordinator = find_set(spec, "coordinator")) {
    const std::string_view job = find_string(*coordinator, "replicatedJob");
    const FieldPath path = kSpec.child("coordinator");
    if (!job_names(spec).contains(job))
      errors.invalid(path.child("replicatedJob"), job, "coordinator replicatedJob does not exist");
  }
  const bool ordered =
      find_string(part_of(spec, "startupPolicy"), "startupPolicyOrder") == "InOrder";
  for (const Json& job : elements(spec, "replicatedJobs"))
    if (ordered && !elements(job, "dependsOn").empty()) {
      errors.invalid(kSpec, "", "StartupPolicy and DependsOn APIs are mutually exclusive");
      break;
    }
  not_negative(spec, {"ttlSecondsAfterFinished"}, kSpec, errors);
  if (old == nullptr) return;
  keep_jobs(now, *old, errors);
  keep_members(spec, part_of(*old, "spec"),
               {"network", "successPolicy", "failurePolicy", "startupPolicy", "managedBy",
                "volumeClaimPolicies"},
               kSpec, errors);
}

}  // namespace muster::api::rules
