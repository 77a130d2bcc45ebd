#include "api/validation/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "api/reading.h"
#include "api/selectors.h"
#include "api/validation/common_rules.h"
#include "api/validation/gate_drops.h"
#include "api/validation/job_rules.h"
#include "api/validation/object_meta.h"
#include "api/validation/placement_rules.h"
#include "api/validation/pod_template.h"

namespace muster::api {
namespace {

constexpr std::int64_t kIndexedPodsMax = 100'000;  // parallelism of Indexed Jobs
constexpr std::int64_t kFailedIndexesMax = 100'000;
constexpr std::int64_t kManyCompletions = 100'000;  // above it, per-index limits get stricter
constexpr std::int64_t kStrictMax = 10'000;
constexpr std::size_t kManagerBytesMax = 63;
constexpr std::string_view kUidLabel = "batch.kubernetes.io/controller-uid";
constexpr std::string_view kNameLabel = "batch.kubernetes.io/job-name";
constexpr std::string_view kOldUidLabel = "controller-uid";
constexpr std::string_view kOldNameLabel = "job-name";
const FieldPath kSpec("spec");

Json* member_of(JsonObject& object, std::string_view member) {
  Json* found = object.if_contains(member);
  return found == nullptr || found->is_null() ? nullptr : found;
}

void default_member(JsonObject& object, std::string_view member, Json value) {
  if (member_of(object, member) == nullptr) object[member] = std::move(value);
}

bool is_indexed(const Json& spec) { return find_string(spec, "completionMode") == "Indexed"; }

// An upper bound for one of the numbers of a Job.
struct Bound {
  std::string_view member;
  std::int64_t most;
  std::string_view when = {};  // ends the sentence
};

void at_most(const Json& spec, const Bound& bound, const FieldPath& path, FieldErrors& errors) {
  const auto value = find_integer(spec, bound.member);
  if (value && *value > bound.most)
    errors.invalid(path.child(bound.member), *value,
                   fmt::format("must be less than or equal to {}{}", bound.most, bound.when));
}

void validate_indexes(const Json& spec, const FieldPath& path, FieldErrors& errors) {
  const auto completions = find_integer(spec, "completions");
  if (!completions) errors.required(path.child("completions"), "when completion mode is Indexed");
  at_most(spec, {"parallelism", kIndexedPodsMax, " when completion mode is Indexed"}, path, errors);
  const auto failed = find_integer(spec, "maxFailedIndexes");
  if (failed && completions && *failed > *completions)
    errors.invalid(path.child("maxFailedIndexes"), *failed,
                   "must be less than or equal to completions");
  at_most(spec, {"maxFailedIndexes", kFailedIndexesMax}, path, errors);
  if (find_set(spec, "backoffLimitPerIndex") != nullptr &&
      completions.value_or(0) > kManyCompletions) {
    constexpr std::string_view kWhen =
        " when completions are above 100000 and used with backoff limit per index";
    if (!failed)
      errors.required(path.child("maxFailedIndexes"),
                      "must be specified when completions is above 100000");
    at_most(spec, {"parallelism", kStrictMax, kWhen}, path, errors);
    at_most(spec, {"maxFailedIndexes", kStrictMax, kWhen}, path, errors);
  }
}

// The pods of an Indexed Job get host names; the last one's is the longest.
void validate_host_names(const Json& job, FieldErrors& errors) {
  const Json& spec = part_of(job, "spec");
  const std::int64_t completions = find_integer(spec, "completions").value_or(0);
  if (!is_indexed(spec) || completions <= 0) return;
  const std::string_view name = find_string(part_of(job, "metadata"), "name");
  const std::string host = fmt::format("{}-{}", name, completions - 1);
  if (!check_dns_label(host).empty())
    errors.invalid(FieldPath("metadata.name"), name,
                   fmt::format("will not able to create pod with invalid DNS label: {}", host));
}

void validate_completion_mode(const Json& spec, const FieldPath& path, FieldErrors& errors) {
  constexpr std::string_view kModes[] = {"NonIndexed", "Indexed"};
  const std::string_view mode = find_string(spec, "completionMode");
  if (!mode.empty() && std::ranges::find(kModes, mode) == std::ranges::end(kModes))
    errors.not_supported(path.child("completionMode"), mode, kModes);
  if (is_indexed(spec)) return validate_indexes(spec, path, errors);
  for (const std::string_view member : {"backoffLimitPerIndex", "maxFailedIndexes"})
    if (const auto value = find_integer(spec, member))
      errors.invalid(path.child(member), *value, "requires indexed completion mode");
}

void validate_restart_policy(const Json& spec, const FieldPath& path, FieldErrors& errors) {
  constexpr std::string_view kPolicies[] = {"OnFailure", "Never"};
  const FieldPath template_path = path.child("template");
  const FieldPath pod_path = template_path.child("spec");
  const FieldPath here = pod_path.child("restartPolicy");
  const std::string_view policy =
      find_string(part_of(part_of(spec, "template"), "spec"), "restartPolicy");
  if (policy.empty() || policy == "Always")
    errors.required(here, R"(valid values: "OnFailure", "Never")");
  else if (std::ranges::find(kPolicies, policy) == std::ranges::end(kPolicies))
    errors.not_supported(here, policy, kPolicies);
  else if (policy != "Never" && find_set(spec, "podFailurePolicy") != nullptr)
    errors.invalid(here, policy, R"(only "Never" is supported when podFailurePolicy is specified)");
}

void validate_replacement_policy(const Json& spec, const FieldPath& path, FieldErrors& errors) {
  constexpr std::string_view kPolicies[] = {"Failed", "TerminatingOrFailed"};
  const std::size_t allowed = find_set(spec, "podFailurePolicy") != nullptr ? 1 : 2;
  const auto policies = std::span(kPolicies).first(allowed);
  const Json* policy = find_set(spec, "podReplacementPolicy");
  if (policy != nullptr && std::ranges::find(policies, text_of(*policy)) == policies.end())
    errors.not_supported(path.child("podReplacementPolicy"), text_of(*policy), policies);
}

// acme.io/foo: a subdomain, then a path.
bool is_domain_prefixed(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash + 1 == text.size()) return false;
  return check_dns_subdomain(text.substr(0, slash)).empty() &&
         text.find_first_of(" ?#%\\\"<>", slash) == std::string_view::npos;
}

void validate_manager(const Json& spec, const FieldPath& path, FieldErrors& errors) {
  const Json* manager = find_set(spec, "managedBy");
  if (manager == nullptr) return;
  const std::string_view name = text_of(*manager);
  if (!is_domain_prefixed(name))
    errors.invalid(path.child("managedBy"), name,
                   "must be a domain-prefixed path (such as \"acme.io/foo\")");
  if (name.size() > kManagerBytesMax) errors.too_long(path.child("managedBy"), kManagerBytesMax);
}

// Generated labels that a user has set to something else, or a selector of the user's own.
void validate_generated_selector(const Json& job, FieldErrors& errors) {
  const Json& spec = part_of(job, "spec");
  const Json* selector = find_set(spec, "selector");
  if (find_true(spec, "manualSelector") || selector == nullptr) return;
  const Json& labels = part_of(part_of(part_of(spec, "template"), "metadata"), "labels");
  const std::string_view uid = find_string(part_of(job, "metadata"), "uid");
  const std::string_view name = find_string(part_of(job, "metadata"), "name");
  const FieldPath labels_path("spec.template.metadata.labels");
  StringPairs expected;
  for (const auto& [label, want] : {std::pair{kOldUidLabel, uid}, std::pair{kOldNameLabel, name},
                                    std::pair{kUidLabel, uid}, std::pair{kNameLabel, name}}) {
    const std::string must = fmt::format("must be '{}'", want);
    if (find_set(labels, label) == nullptr)
      errors.required(labels_path.key(label), must);
    else if (find_string(labels, label) != want)
      errors.invalid(labels_path.key(label), labels, must);
    expected.emplace_back(label, want);
  }
  std::ranges::sort(expected);
  if (const auto parsed = read_label_selector(selector); parsed && !parsed->matches(expected))
    errors.invalid(kSpec.child("selector"), *selector, "`selector` not auto-generated");
}

void validate_selector(const Json& spec, FieldErrors& errors) {
  const FieldPath path = kSpec.child("selector");
  const Json* selector = find_set(spec, "selector");
  if (selector == nullptr) errors.required(path);
  validate_label_selector(selector, path, errors);
  const auto parsed = read_label_selector(selector);
  const Json* metadata = find_set(part_of(spec, "template"), "metadata");
  if (!parsed || parsed->matches(read_labels(metadata))) return;
  const Json* labels = metadata == nullptr ? nullptr : find_set(*metadata, "labels");
  errors.invalid(FieldPath("spec.template.metadata.labels"),
                 labels == nullptr ? ShownValue::null() : ShownValue(*labels),
                 "`selector` does not match template `labels`");
}

// While a Job is suspended and nothing runs, what decides where its pods go may still change.
bool template_may_move(const Json& old) {
  if (!find_true(part_of(old, "spec"), "suspend")) return false;
  const Json& status = part_of(old, "status");
  if (find_integer(status, "active").value_or(0) > 0) return false;
  if (find_set(status, "startTime") == nullptr) return true;
  for (const Json& condition : elements(status, "conditions"))
    if (find_string(condition, "type") == "Suspended" && find_string(condition, "status") == "True")
      return true;
  return false;
}

// The template without what template_may_move() is about.
Json fixed_template(const Json& pod_template) {
  Json out = pod_template;
  if (!out.is_object()) return out;
  JsonObject& metadata = ensure_object(out.get_object(), "metadata");
  metadata.erase("labels");
  metadata.erase("annotations");
  JsonObject& spec = ensure_object(out.get_object(), "spec");
  for (const std::string_view member : {"nodeSelector", "tolerations", "schedulingGates"})
    spec.erase(member);
  if (Json* affinity = spec.if_contains("affinity"); affinity != nullptr && affinity->is_object())
    affinity->get_object().erase("nodeAffinity");
  for (const std::string_view list : {"containers", "initContainers"})
    if (Json* containers = spec.if_contains(list); containers != nullptr && containers->is_array())
      for (Json& container : containers->get_array())
        if (container.is_object()) container.get_object().erase("resources");
  return out;
}

void validate_template_update(const Json& now, const Json& old, FieldErrors& errors) {
  const Json& after = part_of(part_of(now, "spec"), "template");
  const Json& before = part_of(part_of(old, "spec"), "template");
  if (same_meaning(&after, &before)) return;
  if (template_may_move(old)) {
    const Json fixed_after = fixed_template(after);
    const Json fixed_before = fixed_template(before);
    if (same_meaning(&fixed_after, &fixed_before)) return;
  }
  errors.invalid(kSpec.child("template"), after, kImmutableField);
}

// Elastic Indexed Jobs change completions together with parallelism; nobody else does.
void validate_completions_update(const Json& now, const Json& old, FieldErrors& errors) {
  const auto after = find_integer(now, "completions");
  if (after == find_integer(old, "completions")) return;
  // An Indexed Job without any has its error already.
  if (is_indexed(now) && (!after || after == find_integer(now, "parallelism"))) return;
  errors.invalid(
      kSpec.child("completions"), after ? ShownValue(*after) : ShownValue::null(),
      is_indexed(now) ? "can only be modified in tandem with spec.parallelism" : kImmutableField);
}

}  // namespace

void default_job_spec(JsonObject& spec) {
  if (member_of(spec, "parallelism") == nullptr && member_of(spec, "completions") == nullptr)
    spec["completions"] = std::int64_t{1};
  default_member(spec, "parallelism", std::int64_t{1});
  const bool per_index = member_of(spec, "backoffLimitPerIndex") != nullptr;
  default_member(
      spec, "backoffLimit",
      per_index ? std::int64_t{std::numeric_limits<std::int32_t>::max()} : std::int64_t{6});
  const bool judges_failures = member_of(spec, "podFailurePolicy") != nullptr;
  default_member(spec, "podReplacementPolicy", judges_failures ? "Failed" : "TerminatingOrFailed");
  default_member(spec, "manualSelector", false);
  default_pod_template(spec);
}

void validate_job_spec(const Json& spec, const FieldPath& path, FieldErrors& errors) {
  not_negative(spec,
               {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
                "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"},
               path, errors);
  if (find_set(spec, "maxFailedIndexes") != nullptr &&
      find_set(spec, "backoffLimitPerIndex") == nullptr)
    errors.required(path.child("backoffLimitPerIndex"), "when maxFailedIndexes is specified");
  validate_manager(spec, path, errors);
  validate_completion_mode(spec, path, errors);
  validate_pod_failure_policy(spec, path, errors);
  validate_success_policy(spec, path, errors);
  validate_replacement_policy(spec, path, errors);
  validate_pod_template(part_of(spec, "template"), path.child("template"), errors);
  validate_restart_policy(spec, path, errors);
}

void default_job(JsonObject& document) {
  JsonObject& spec = ensure_object(document, "spec");
  default_job_spec(spec);
  const Json* labels = nullptr;
  if (const Json* pod_template = member_of(spec, "template"))
    labels = find_set(part_of(*pod_template, "metadata"), "labels");
  if (labels == nullptr) return;
  const Json copy = *labels;
  JsonObject& metadata = ensure_object(document, "metadata");
  const Json* own = member_of(metadata, "labels");
  if (own == nullptr || (own->is_object() && own->get_object().empty())) metadata["labels"] = copy;
}

void drop_disabled_job_fields(Json& now, const Json* old, const Gates& gates) {
  JsonObject& spec = ensure_object(now.get_object(), "spec");
  const Json* old_spec = old == nullptr ? nullptr : find(*old, "spec");
  if (!gates.on(Gate::WorkloadWithJob) &&
      (old_spec == nullptr || find_set(*old_spec, "scheduling") == nullptr))
    spec.erase("scheduling");
  if (Json* pod_template = member_of(spec, "template"))
    drop_disabled_pod_fields(*pod_template,
                             old_spec == nullptr ? nullptr : find(*old_spec, "template"), gates);
}

void select_pods_of_job(Json& job) {
  const Json& metadata = part_of(job, "metadata");
  const std::string uid(find_string(metadata, "uid"));
  const std::string name(find_string(metadata, "name"));
  JsonObject& spec = ensure_object(job.get_object(), "spec");
  if (const Json* manual = spec.if_contains("manualSelector");
      manual != nullptr && manual->is_bool() && manual->get_bool())
    return;
  JsonObject& labels =
      ensure_object(ensure_object(ensure_object(spec, "template"), "metadata"), "labels");
  for (const auto& [label, value] :
       {std::pair{kUidLabel, &uid}, std::pair{kNameLabel, &name}, std::pair{kOldUidLabel, &uid},
        std::pair{kOldNameLabel, &name}})
    default_member(labels, label, Json(std::string_view(*value)));
  default_member(ensure_object(ensure_object(spec, "selector"), "matchLabels"), kUidLabel,
                 Json(std::string_view(uid)));
}

FieldErrors validate_job(const Json& job, const Gates& gates) {
  FieldErrors errors;
  validate_object_meta(job, {}, errors);
  validate_generated_selector(job, errors);
  const Json& spec = part_of(job, "spec");
  validate_job_spec(spec, kSpec, errors);
  validate_selector(spec, errors);
  validate_host_names(job, errors);
  validate_job_scheduling(spec, nullptr, JobForm::Job, gates, kSpec, errors);
  return errors;
}

FieldErrors validate_job_update(const Json& now, const Json& old, const Gates& gates) {
  FieldErrors errors;
  validate_object_meta_update(now, old, errors);
  const Json& spec = part_of(now, "spec");
  const Json& before = part_of(old, "spec");
  validate_job_spec(spec, kSpec, errors);
  validate_selector(spec, errors);
  validate_completions_update(spec, before, errors);
  validate_immutable_members(spec, before, {"selector"}, kSpec, errors);
  validate_template_update(now, old, errors);
  validate_immutable_members(
      spec, before,
      {"completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"},
      kSpec, errors);
  validate_job_scheduling(spec, &before, JobForm::Job, gates, kSpec, errors);
  return errors;
}

FieldErrors validate_job_status_update(const Json& now, const Json& old) {
  FieldErrors errors;
  validate_object_meta_update(now, old, errors);
  const FieldPath path("status");
  const Json& status = part_of(now, "status");
  not_negative(status, {"active", "succeeded", "failed", "ready", "terminating"}, path, errors);
  const auto is_true = [](const Json& holder, std::string_view type) {
    for (const Json& condition : elements(holder, "conditions"))
      if (find_string(condition, "type") == type && find_string(condition, "status") == "True")
        return true;
    return false;
  };
  const Json& before = part_of(old, "status");
  if (is_true(status, "Complete") && is_true(status, "Failed"))
    errors.invalid(path.child("conditions"), "cannot set Complete=True and Failed=true conditions");
  for (const std::string_view end : {"Failed", "Complete", "FailureTarget"})
    if (is_true(before, end) && !is_true(status, end))
      errors.invalid(path.child("conditions"),
                     fmt::format("cannot disable the terminal {}=True condition", end));
  if (find_integer(status, "failed").value_or(0) < find_integer(before, "failed").value_or(0))
    errors.invalid(path.child("failed"), find_integer(status, "failed").value_or(0),
                   "cannot decrease the failed counter");
  return errors;
}

}  // namespace muster::api
