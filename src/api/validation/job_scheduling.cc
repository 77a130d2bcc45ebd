#include <fmt/format.h>

#include "api/reading.h"
#include "api/validation/group_rules.h"
#include "api/validation/job_rules.h"
#include "api/validation/normalize.h"

// What a Job asks of a scheduler that places whole workloads.
namespace muster::api {
namespace {

constexpr std::string_view kCannotBeSet = "field cannot be set once created";
constexpr std::string_view kCannotBeCleared = "field cannot be cleared once set";

// Says that a member was added or removed; true if it was not.
bool keeps_presence(const Edit& field, bool update, const FieldPath& path, FieldErrors& errors) {
  if (!update || (field.now == nullptr) == (field.old == nullptr)) return true;
  errors.invalid(path, ShownValue::null(), field.now == nullptr ? kCannotBeCleared : kCannotBeSet);
  return false;
}

bool is_gang(const Json* policy) {
  return policy != nullptr && find_set(*policy, "gang") != nullptr;
}

void validate_policy(const Edit& scheduling, bool update, JobForm form, std::int64_t parallelism,
                     GroupRules& rules, const FieldPath& path, FieldErrors& errors) {
  const FieldPath here = path.child("schedulingPolicy");
  const Edit policy = scheduling.member("schedulingPolicy");
  if (!keeps_presence(policy, update, here, errors) || policy.now == nullptr) return;
  rules.policy_block(policy, here, "minCount");
  if (update && form == JobForm::Job && is_gang(policy.now) != is_gang(policy.old))
    errors.invalid(here, ShownValue::null(),
                   "the basic/gang policy variant is immutable after creation; only "
                   "schedulingPolicy.gang.minCount may be updated");
  const Json* gang = find_set(*policy.now, "gang");
  const auto count = gang == nullptr ? std::nullopt : find_integer(*gang, "minCount");
  if (!count) return;
  const FieldPath gang_path = here.child("gang");
  const FieldPath count_path = gang_path.child("minCount");
  if (*count >= 1 && *count > parallelism)
    errors.invalid(count_path, *count,
                   fmt::format("must not be greater than parallelism ({})", parallelism));
}

}  // namespace

void validate_job_scheduling(const Json& spec, const Json* old, JobForm form, const Gates& gates,
                             const FieldPath& path, FieldErrors& errors) {
  const schema::Message& message = schema::message("batch/v1", "JobSpec");
  const Json now_meaning = normalized(message, spec);
  const Json old_meaning = old == nullptr ? Json(nullptr) : normalized(message, *old);
  const bool update = old != nullptr;
  const Edit whole{.now = &now_meaning, .old = update ? &old_meaning : nullptr};
  const FieldPath here = path.child("scheduling");
  const Edit scheduling = whole.member("scheduling");
  if (!keeps_presence(scheduling, update, here, errors) || scheduling.now == nullptr) return;

  GroupRules rules(update ? GroupRules::Write::Update : GroupRules::Write::Create, gates, errors);
  validate_policy(scheduling, update, form, find_integer(spec, "parallelism").value_or(1), rules,
                  here, errors);
  rules.constraints(scheduling, here,
                    {.forbidden = !gates.on(Gate::TopologyAwareWorkloadScheduling)});
  rules.disruption_mode(scheduling, here, {});
  rules.claims(scheduling, here);
  const Json* mode = find_set(*scheduling.now, "disruptionMode");
  if (mode != nullptr && find_set(*mode, "all") != nullptr &&
      !is_gang(find_set(*scheduling.now, "schedulingPolicy")))
    errors.invalid(here.child("disruptionMode"), "",
                   "the disruptionMode `all` is not supported with the Basic scheduling policy");
}

}  // namespace muster::api
