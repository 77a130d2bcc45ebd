#include "api/workloads/job.h"

#include <fmt/format.h>

#include <limits>
#include <string>
#include <utility>

#include "api/selectors.h"
#include "api/validation/common_rules.h"
#include "api/validation/object_meta.h"
#include "api/validation/placement_rules.h"
#include "api/validation/pod_template.h"
#include "api/validation/reading.h"
#include "api/values/cron_schedule.h"
#include "api/workloads/gate_drops.h"
#include "api/workloads/job_rules.h"

namespace muster::api {
namespace {

constexpr std::int64_t kIndexedPodsMax = 100'000;  // parallelism of Indexed Jobs
constexpr std::int64_t kFailedIndexesMax = 100'000;
constexpr std::int64_t kManyCompletions = 100'000;  // above it, per-index limits get stricter
constexpr std::int64_t kStrictMax = 10'000;
constexpr std::size_t kManagerBytesMax = 63;
constexpr std::size_t kCronJobNameMax = 52;  // leaves room for the minute in a Job's name
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

// The defaults of a JobSpec, wherever it stands.
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

bool is_indexed(const Json& spec) { return find_string(spec, "completionMode") == "Indexed"; }

// An upper bound for one of the numbers of a Job.
struct Bound {
  std::string_view member;
  std::int64_t most;
  std::string_view when = "";  // ends the sentence
};

void at_most(const Json& spec, const Bound& bound, const FieldPath& path, FieldErrors& errors) {
  const auto value = find_integer(spec, bound.member);
  if (value && *value > bound.most)
    errors.invalid(path.child(bound.member), *value,
                   fmt::format("must be less than or equal to {}{}", bound.most, bound.when));
}

void validate_indexes(const Json& spec, std::string_view job_name, const FieldPath& path,
                      FieldErrors& errors) {
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
  if (job_name.empty() || completions.value_or(0) <= 0) return;
  const std::string host = fmt::format("{}-{}", job_name, *completions - 1);
  if (!check_dns_label(host).empty())
    errors.invalid(FieldPath("metadata.name"), job_name,
                   fmt::format("will not able to create pod with invalid DNS hostname: {}", host));
}

void validate_completion_mode(const Json& spec, std::string_view job_name, const FieldPath& path,
                              FieldErrors& errors) {
  constexpr std::string_view kModes[] = {"Indexed", "NonIndexed"};
  const std::string_view mode = find_string(spec, "completionMode");
  if (!mode.empty() && std::ranges::find(kModes, mode) == std::ranges::end(kModes))
    errors.not_supported(path.child("completionMode"), mode, kModes);
  const auto per_index = find_integer(spec, "backoffLimitPerIndex");
  if (is_indexed(spec))
    validate_indexes(spec, job_name, path, errors);
  else if (per_index)
    errors.invalid(path.child("backoffLimitPerIndex"), *per_index,
                   "requires indexed completion mode");
  if (find_set(spec, "maxFailedIndexes") != nullptr && !per_index)
    errors.required(path.child("backoffLimitPerIndex"), "when maxFailedIndexes is specified");
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
  validate_required_word(spec, "podReplacementPolicy", std::span(kPolicies).first(allowed), path,
                         errors);
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

// What holds of the spec of a Job and of the one in a CronJob's template.
void validate_job_spec(const Json& spec, std::string_view job_name, const FieldPath& path,
                       FieldErrors& errors) {
  not_negative(spec,
               {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
                "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"},
               path, errors);
  validate_manager(spec, path, errors);
  validate_completion_mode(spec, job_name, path, errors);
  validate_pod_failure_policy(spec, path, errors);
  validate_success_policy(spec, path, errors);
  validate_replacement_policy(spec, path, errors);
  validate_pod_template(part_of(spec, "template"), path.child("template"), errors);
  validate_restart_policy(spec, path, errors);
}

void validate_selector(const Json& job, FieldErrors& errors) {
  const Json& spec = part_of(job, "spec");
  const FieldPath path = kSpec.child("selector");
  const Json* selector = find_set(spec, "selector");
  if (selector == nullptr) return errors.required(path);
  validate_label_selector(selector, path, errors);
  const auto parsed = read_label_selector(selector);
  const Json* metadata = find_set(part_of(spec, "template"), "metadata");
  if (parsed && !parsed->matches(read_labels(metadata)))
    errors.invalid(
        FieldPath("spec.template.metadata.labels"),
        metadata == nullptr ? ShownValue::null() : ShownValue(part_of(*metadata, "labels")),
        "`selector` does not match template `labels`");
  if (find_true(spec, "manualSelector")) return;
  // Generated labels that a user has set to something else.
  const Json& labels = part_of(part_of(part_of(spec, "template"), "metadata"), "labels");
  const std::string_view uid = find_string(part_of(job, "metadata"), "uid");
  const std::string_view name = find_string(part_of(job, "metadata"), "name");
  const FieldPath labels_path("spec.template.metadata.labels");
  for (const auto& [label, want] : {std::pair{kUidLabel, uid}, std::pair{kNameLabel, name},
                                    std::pair{kOldUidLabel, uid}, std::pair{kOldNameLabel, name}})
    if (find_string(labels, label) != want)
      errors.invalid(labels_path.key(label), labels, fmt::format("must be '{}'", want));
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

void keep_template(const Json& now, const Json& old, FieldErrors& errors) {
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
void keep_completions(const Json& now, const Json& old, FieldErrors& errors) {
  const auto after = find_integer(now, "completions");
  if (after == find_integer(old, "completions")) return;
  if (is_indexed(now) && after && after == find_integer(now, "parallelism")) return;
  errors.invalid(kSpec.child("completions"), after ? ShownValue(*after) : ShownValue::null(),
                 is_indexed(now)
                     ? "can only be modified in tandem with parallelism (completions==parallelism)"
                     : kImmutableField);
}

const Json& template_spec(const Json& cron_job) {
  return part_of(part_of(part_of(cron_job, "spec"), "jobTemplate"), "spec");
}

void validate_schedule(const Json& spec, const Json* old_spec, FieldErrors& errors) {
  const FieldPath path = kSpec.child("schedule");
  const std::string_view schedule = find_string(spec, "schedule");
  if (schedule.empty()) {
    errors.required(path);
  } else if (schedule.find("TZ") != std::string_view::npos) {
    if (old_spec == nullptr || find_string(*old_spec, "schedule") != schedule)
      errors.invalid(path, schedule,
                     "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  } else if (const auto parsed = CronSchedule::parse(schedule); !parsed) {
    errors.invalid(path, schedule, parsed.error().message);
  }
}

void validate_time_zone(const Json& spec, FieldErrors& errors) {
  const Json* zone = find_set(spec, "timeZone");
  if (zone == nullptr) return;
  const FieldPath path = kSpec.child("timeZone");
  const std::string_view name = text_of(*zone);
  if (name.empty())
    errors.invalid(path, name, "timeZone must be nil or non-empty string");
  else if (name == "Local" || name == "local")
    errors.invalid(path, name,
                   "timeZone must be an explicit time zone as defined in "
                   "https://www.iana.org/time-zones");
  else if (name.find("..") != std::string_view::npos || name.starts_with('/'))
    errors.invalid(path, name, "unknown time zone " + std::string(name));
}

void validate_cron_job_spec(const Json& now, const Json* old, const Gates& gates,
                            FieldErrors& errors) {
  constexpr std::string_view kPolicies[] = {"Allow", "Forbid", "Replace"};
  const Json& spec = part_of(now, "spec");
  validate_schedule(spec, old == nullptr ? nullptr : &part_of(*old, "spec"), errors);
  not_negative(spec,
               {"startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"},
               kSpec, errors);
  validate_time_zone(spec, errors);
  validate_required_word(spec, "concurrencyPolicy", kPolicies, kSpec, errors);
  const FieldPath job_path("spec.jobTemplate.spec");
  const Json& job = template_spec(now);
  validate_job_spec(job, "", job_path, errors);
  if (find_set(job, "selector") != nullptr)
    errors.invalid(job_path.child("selector"), part_of(job, "selector"),
                   "`selector` will be auto-generated");
  if (find_true(job, "manualSelector")) {
    constexpr std::string_view kUnset[] = {"nil", "false"};
    errors.not_supported(job_path.child("manualSelector"), Json(true), kUnset);
  }
  validate_job_scheduling(job, old == nullptr ? nullptr : &template_spec(*old), JobForm::Template,
                          gates, job_path, errors);
}

}  // namespace

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

void default_cron_job(JsonObject& document) {
  JsonObject& spec = ensure_object(document, "spec");
  JsonObject& job_template = ensure_object(spec, "jobTemplate");
  default_job_spec(ensure_object(job_template, "spec"));
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

void drop_disabled_cron_job_fields(Json& now, const Json* old, const Gates& gates) {
  Json* job_template = member_of(ensure_object(now.get_object(), "spec"), "jobTemplate");
  if (job_template == nullptr || !job_template->is_object()) return;
  drop_disabled_job_fields(
      *job_template, old == nullptr ? nullptr : &part_of(part_of(*old, "spec"), "jobTemplate"),
      gates);
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
  validate_selector(job, errors);
  const Json& spec = part_of(job, "spec");
  validate_job_spec(spec, find_string(part_of(job, "metadata"), "name"), kSpec, errors);
  validate_job_scheduling(spec, nullptr, JobForm::Job, gates, kSpec, errors);
  return errors;
}

FieldErrors validate_job_update(const Json& now, const Json& old, const Gates& gates) {
  FieldErrors errors;
  validate_object_meta_update(now, old, errors);
  const Json& spec = part_of(now, "spec");
  const Json& before = part_of(old, "spec");
  validate_job_spec(spec, find_string(part_of(now, "metadata"), "name"), kSpec, errors);
  keep_completions(spec, before, errors);
  keep_members(spec, before, {"selector"}, kSpec, errors);
  keep_template(now, old, errors);
  keep_members(
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
    errors.invalid(path.child("conditions"), part_of(status, "conditions"),
                   "cannot set Complete=True and Failed=true conditions");
  for (const std::string_view end : {"Complete", "Failed"})
    if (is_true(before, end) && !is_true(status, end))
      errors.invalid(path.child("conditions"), part_of(status, "conditions"),
                     fmt::format("cannot disable the terminal {}=True condition", end));
  if (find_integer(status, "failed").value_or(0) < find_integer(before, "failed").value_or(0))
    errors.invalid(path.child("failed"), find_integer(status, "failed").value_or(0),
                   "cannot decrease the failed counter");
  return errors;
}

FieldErrors validate_cron_job(const Json& cron_job, const Gates& gates) {
  FieldErrors errors;
  validate_object_meta(cron_job, {}, errors);
  validate_cron_job_spec(cron_job, nullptr, gates, errors);
  const std::string_view name = find_string(part_of(cron_job, "metadata"), "name");
  if (name.size() > kCronJobNameMax)
    errors.invalid(FieldPath("metadata.name"), name,
                   fmt::format("must be no more than {} characters", kCronJobNameMax));
  return errors;
}

FieldErrors validate_cron_job_update(const Json& now, const Json& old, const Gates& gates) {
  FieldErrors errors;
  validate_object_meta_update(now, old, errors);
  validate_cron_job_spec(now, &old, gates, errors);
  return errors;
}

}  // namespace muster::api
