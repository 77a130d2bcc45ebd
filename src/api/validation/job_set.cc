#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>

#include "api/reading.h"
#include "api/validation/common_rules.h"
#include "api/validation/job_set_scheduling.h"
#include "api/validation/job_set_update.h"
#include "api/validation/kind_rules.h"
#include "api/validation/object_meta.h"
#include "api/validation/pod_template.h"
#include "api/validation/schema_rules.h"
#include "api/values/pattern.h"

// JobSets, as their own webhooks judge them.
namespace muster::api::rules {
namespace {

const FieldPath kSpec("spec");
constexpr std::int64_t kRestartJobReplicasMax = 1024;
constexpr std::int64_t kPodsMax = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kRuleNameMax = 128;
constexpr std::size_t kPatternsMax = 20;
constexpr std::string_view kOwnManager = "jobset.sigs.k8s.io/jobset-controller";
constexpr std::string_view kFailureReasons[] = {"BackoffLimitExceeded", "DeadlineExceeded",
                                                "FailedIndexes", "MaxFailedIndexesExceeded",
                                                "PodFailurePolicy"};

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

// `where` is what the message says of the list: nothing, or " in failure policy".
void validate_targets(const Json& holder, const std::set<std::string_view>& names,
                      std::string_view where, const FieldPath& path, FieldErrors& errors) {
  const FieldPath here = path.child("targetReplicatedJobs");
  std::size_t at = 0;
  for (const Json& target : elements(holder, "targetReplicatedJobs")) {
    const FieldPath target_path = here.index(at++);
    if (!names.contains(text_of(target)))
      errors.invalid(target_path, text_of(target),
                     fmt::format("invalid replicatedJob name '{}'{} does not appear in "
                                 ".spec.ReplicatedJobs",
                                 text_of(target), where));
  }
}

// A name that will be made of others, as the host name of a pod; `too_long` is said of its length.
void validate_made_name(std::string_view made, std::string_view too_long, std::string_view name,
                        const FieldPath& path, FieldErrors& errors) {
  for (const std::string& message : check_dns_1035_label(made))
    errors.invalid(
        path, name,
        message.starts_with("must be no more than") ? too_long : std::string_view(message));
}

// The longest names that a replicated job leads to: set, job, index of the job, index of the pod,
// and a suffix.
void validate_names(const Json& set, const Json& job, const FieldPath& path, FieldErrors& errors) {
  const FieldPath here = path.child("name");
  const std::string_view name = find_string(job, "name");
  if (name.empty()) return errors.required(here);
  const std::int64_t last_job =
      std::max<std::int64_t>(0, find_integer(job, "replicas").value_or(1) - 1);
  const std::string made =
      fmt::format("{}-{}-{}", find_string(part_of(set, "metadata"), "name"), name, last_job);
  validate_made_name(made,
                     "JobSet name is too long, job names generated for this JobSet will exceed 63 "
                     "characters",
                     name, here, errors);
  const Json& job_spec = part_of(part_of(job, "template"), "spec");
  const auto completions = find_integer(job_spec, "completions");
  if (find_string(job_spec, "completionMode") != "Indexed" || !completions) return;
  validate_made_name(
      fmt::format("{}-{}-abcde", made, std::max<std::int64_t>(0, *completions - 1)),
      "JobSet name is too long, pod names generated for this JobSet will exceed 63 characters",
      name, here, errors);
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
                       fmt::format("replicatedJob: {} cannot depend on replicatedJob: {}",
                                   cut_utf8(find_string(job, "name"), kLimits.path_bytes), name));
    }
    before.insert(find_string(job, "name"));
  }
}

// A letter, then letters, digits and "_,:"; it does not end with one of ",:".
bool is_rule_name(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
  const auto fits = [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == ',' || c == ':';
  };
  return !name.empty() && is_letter(name.front()) && std::ranges::all_of(name, fits) &&
         !name.ends_with(',') && !name.ends_with(':');
}

void validate_rule_name(std::string_view name, const FieldPath& path, FieldErrors& errors) {
  if (name.empty() || name.size() > kRuleNameMax)
    errors.invalid(path, name,
                   fmt::format("invalid failure policy rule name of length {}, the rule name must "
                               "be at least 1 characters long and at most {} characters long",
                               name.size(), kRuleNameMax));
  if (!is_rule_name(name))
    errors.invalid(path, name,
                   fmt::format("invalid failure policy rule name '{}', a failure policy rule name "
                               "must start with an alphabetic character, optionally followed by a "
                               "string of alphanumeric characters or '_,:', and must end with an "
                               "alphanumeric character or '_'",
                               name));
}

void validate_failure_reasons(const Json& rule, const FieldPath& path, FieldErrors& errors) {
  std::size_t at = 0;
  for (const Json& reason : elements(rule, "onJobFailureReasons")) {
    const FieldPath here = path.index(at++);
    if (std::ranges::find(kFailureReasons, text_of(reason)) == std::end(kFailureReasons))
      errors.invalid(here, text_of(reason),
                     fmt::format("invalid job failure reason '{}' in failure policy is not a "
                                 "recognized job failure reason",
                                 text_of(reason)));
  }
}

void validate_message_patterns(const Json& rule, const FieldPath& path, FieldErrors& errors) {
  std::size_t at = 0;
  for (const Json& pattern : elements(rule, "onJobFailureMessagePatterns")) {
    const FieldPath here = path.index(at++);
    if (at > kPatternsMax) return errors.too_many(path, at, kPatternsMax);
    if (const Result<Pattern> parsed = Pattern::parse(text_of(pattern)); !parsed)
      errors.invalid(here, text_of(pattern),
                     fmt::format("invalid job failure message pattern in failure policy is not a "
                                 "valid regular expression: {}",
                                 parsed.error().message));
  }
}

// Restarts of containers in place need an agent in each pod.
void validate_restart_strategy(const Json& spec, FieldErrors& errors) {
  const FieldPath policy = kSpec.child("failurePolicy");
  const std::string_view manager = find_string(spec, "managedBy");
  if (find_string(part_of(spec, "failurePolicy"), "restartStrategy") == "InPlaceRestart" &&
      (manager.empty() || manager == kOwnManager))
    errors.forbidden(policy.child("restartStrategy"),
                     "InPlaceRestart is not supported by this controller");
}

void validate_failure_policy(const Json& spec, FieldErrors& errors) {
  const Json* policy = find_set(spec, "failurePolicy");
  if (policy == nullptr) return;
  const FieldPath path = kSpec.child("failurePolicy");
  not_negative(*policy, {"maxRestarts"}, path, errors);
  const FieldPath rules_path = path.child("rules");
  const std::set<std::string_view> jobs = job_names(spec);
  const auto too_large = static_cast<std::size_t>(
      std::ranges::count_if(elements(spec, "replicatedJobs"), [](const Json& job) {
        return find_integer(job, "replicas").value_or(1) > kRestartJobReplicasMax;
      }));
  std::set<std::string_view> names;
  std::size_t at = 0;
  for (const Json& rule : elements(*policy, "rules")) {
    const FieldPath here = rules_path.index(at++);
    const std::string_view name = find_string(rule, "name");
    validate_rule_name(name, here.child("name"), errors);
    if (!names.insert(name).second) errors.duplicate(here.child("name"), name);
    validate_targets(rule, jobs, " in failure policy", here, errors);
    validate_failure_reasons(rule, here.child("onJobFailureReasons"), errors);
    validate_message_patterns(rule, here.child("onJobFailureMessagePatterns"), errors);
    if (!find_string(rule, "action").starts_with("RestartJob") ||
        find_string(rule, "action").starts_with("RestartJobSet"))
      continue;
    if (too_large == 0) continue;
    errors.invalid(
        here.child("action"), find_string(rule, "action"),
        fmt::format("needs at most {} replicas of every replicatedJob", kRestartJobReplicasMax));
    errors.repeat_last(too_large - 1);
  }
}

// Claims that Jobs share, by the names that pods mount them by.
std::set<std::string_view> validate_claims(const Json& spec, FieldErrors& errors) {
  std::set<std::string_view> names;
  const FieldPath policies = kSpec.child("volumeClaimPolicies");
  std::size_t policy_at = 0;
  for (const Json& policy : elements(spec, "volumeClaimPolicies")) {
    const FieldPath policy_path = policies.index(policy_at++);
    const FieldPath templates = policy_path.child("templates");
    std::size_t at = 0;
    for (const Json& claim : elements(policy, "templates")) {
      const FieldPath here = templates.index(at++);
      const FieldPath path = here.child("metadata.name");
      const std::string_view name = find_string(part_of(claim, "metadata"), "name");
      if (name.empty())
        errors.required(path);
      else if (!names.insert(name).second)
        errors.duplicate(path, name);
      else
        errors.invalid_each(path, name, check_dns_1035_label(name));
    }
  }
  return names;
}

void validate_jobs(const Json& set, FieldErrors& errors) {
  const Json& spec = part_of(set, "spec");
  const FieldPath path = kSpec.child("replicatedJobs");
  const std::set<std::string_view> claims = validate_claims(spec, errors);
  std::set<std::string_view> names;
  std::size_t at = 0;
  for (const Json& job : elements(spec, "replicatedJobs")) {
    const FieldPath here = path.index(at++);
    const std::string_view name = find_string(job, "name");
    if (!names.insert(name).second) errors.duplicate(here.child("name"), name);
    not_negative(job, {"replicas"}, here, errors);
    const Json& pods = part_of(part_of(part_of(job, "template"), "spec"), "parallelism");
    const std::int64_t replicas = find_integer(job, "replicas").value_or(1);
    if (replicas > 0 && integer_of(pods).value_or(1) > kPodsMax / replicas)
      errors.invalid(here.child("replicas"), replicas,
                     fmt::format("the product of replicas and parallelism must not exceed {} for "
                                 "replicatedJob '{}'",
                                 kPodsMax, name));
    validate_names(set, job, here, errors);
    if (const auto group = find_string(job, "groupName"); !group.empty())
      errors.invalid_each(here.child("groupName"), group, check_dns_1035_label(group));
    const FieldPath template_path = here.child("template");
    const FieldPath job_path = template_path.child("spec");
    const Json& job_spec = part_of(part_of(job, "template"), "spec");
    not_negative(job_spec, {"parallelism", "completions", "backoffLimit"}, job_path, errors);
    validate_pod_template(with_claim_volumes(part_of(job_spec, "template"), claims),
                          job_path.child("template"), errors);
  }
}

// The pod that all others can find must be one that there will be.
void validate_coordinator(const Json& spec, FieldErrors& errors) {
  const Json* coordinator = find_set(spec, "coordinator");
  if (coordinator == nullptr) return;
  const FieldPath path = kSpec.child("coordinator");
  const std::string_view name = find_string(*coordinator, "replicatedJob");
  const Json* job = nullptr;
  for (const Json& each : elements(spec, "replicatedJobs"))
    if (find_string(each, "name") == name) job = &each;
  if (job == nullptr)
    return errors.invalid(path.child("replicatedJob"), name,
                          fmt::format("coordinator replicatedJob {} does not exist", name));
  const std::int64_t job_index = find_integer(*coordinator, "jobIndex").value_or(0);
  if (job_index < 0 || job_index >= find_integer(*job, "replicas").value_or(1))
    return errors.invalid(
        path.child("jobIndex"), job_index,
        fmt::format("coordinator job index {} is invalid for replicatedJob {}", job_index, name));
  const Json& job_spec = part_of(part_of(*job, "template"), "spec");
  if (find_string(job_spec, "completionMode") != "Indexed")
    return errors.invalid(path, *coordinator,
                          "job for coordinator pod must be indexed completion mode");
  const std::int64_t pod_index = find_integer(*coordinator, "podIndex").value_or(0);
  if (pod_index < 0 || pod_index >= find_integer(job_spec, "completions").value_or(1))
    errors.invalid(path.child("podIndex"), pod_index,
                   fmt::format("coordinator pod index {} is invalid for replicatedJob {} job index "
                               "{}",
                               pod_index, name, job_index));
}

void validate_network(const Json& spec, FieldErrors& errors) {
  const FieldPath network = kSpec.child("network");
  const FieldPath path = network.child("subdomain");
  const std::string_view subdomain = find_string(part_of(spec, "network"), "subdomain");
  if (subdomain.empty()) return;
  errors.invalid_each(path, subdomain, check_dns_subdomain(subdomain));
  validate_made_name(subdomain,
                     ".spec.network.subdomain is too long, must be less than 63 characters",
                     subdomain, path, errors);
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
  if (old == nullptr) {
    validate_network(spec, errors);
    validate_restart_strategy(spec, errors);
  }
  validate_jobs(now, errors);
  validate_dependencies(spec, errors);
  validate_failure_policy(spec, errors);
  for (const std::string_view member : {"successPolicy", "startupPolicy", "coordinator"})
    if (const Json* part = find_set(spec, member))
      validate_by_schema(*schema::message("jobset/v1alpha2", "JobSetSpec").find(member)->message,
                         *part, kSpec.child(member), errors);
  if (const Json* policy = find_set(spec, "successPolicy"))
    validate_targets(*policy, job_names(spec), "", kSpec.child("successPolicy"), errors);
  validate_coordinator(spec, errors);
  const bool ordered =
      find_string(part_of(spec, "startupPolicy"), "startupPolicyOrder") == "InOrder";
  for (const Json& job : elements(spec, "replicatedJobs"))
    if (ordered && !elements(job, "dependsOn").empty()) {
      errors.invalid(kSpec, "", "StartupPolicy and DependsOn APIs are mutually exclusive");
      break;
    }
  not_negative(spec, {"ttlSecondsAfterFinished"}, kSpec, errors);
  validate_job_set_scheduling(now, old, {}, errors);
  if (old != nullptr) validate_job_set_update(now, *old, errors);
}

}  // namespace muster::api::rules
