#include "api/views/job_view.h"

#include <array>
#include <utility>

#include "api/reading.h"
#include "api/selectors.h"

namespace muster::api {
namespace {

using Action = PodFailureRule::Action;

constexpr std::array<std::pair<std::string_view, Action>, 4> kActions{
    {{"FailJob", Action::FailJob},
     {"FailIndex", Action::FailIndex},
     {"Ignore", Action::Ignore},
     {"Count", Action::Count}}};

std::optional<std::int32_t> int32_at(const Json& holder, std::string_view member) {
  const std::optional<std::int64_t> value = find_integer(holder, member);
  if (!value) return std::nullopt;
  if (*value > INT32_MAX) return INT32_MAX;
  if (*value < INT32_MIN) return INT32_MIN;
  return static_cast<std::int32_t>(*value);
}

std::optional<std::string> text_at(const Json& holder, std::string_view member) {
  const Json* found = find_set(holder, member);
  return found == nullptr ? std::nullopt : std::optional(std::string(text_of(*found)));
}

PodFailureRule read_failure_rule(const Json& rule) {
  PodFailureRule out;
  const std::string_view action = find_string(rule, "action");
  for (const auto& [name, value] : kActions)
    if (name == action) out.action = value;
  if (const Json* exits = find_set(rule, "onExitCodes")) {
    out.on_exit_codes = true;
    out.container = find_string(*exits, "containerName");
    out.codes_not_in = find_string(*exits, "operator") == "NotIn";
    for (const Json& code : elements(*exits, "values"))
      if (const auto number = integer_of(code))
        out.codes.push_back(static_cast<std::int32_t>(*number));
  }
  for (const Json& pattern : elements(rule, "onPodConditions")) {
    const std::string_view status = find_string(pattern, "status");
    out.conditions.push_back({.type = std::string(find_string(pattern, "type")),
                              .status = std::string(status.empty() ? "True" : status)});
  }
  return out;
}

void read_spec(const Json& spec, JobView& view) {
  view.parallelism = int32_at(spec, "parallelism").value_or(1);
  view.completions = int32_at(spec, "completions");
  view.completion_mode = find_string(spec, "completionMode");
  view.backoff_limit = int32_at(spec, "backoffLimit").value_or(6);
  view.backoff_limit_per_index = int32_at(spec, "backoffLimitPerIndex");
  view.max_failed_indexes = int32_at(spec, "maxFailedIndexes");
  view.active_deadline_s = find_integer(spec, "activeDeadlineSeconds");
  view.ttl_s = find_integer(spec, "ttlSecondsAfterFinished");
  view.suspend = find_true(spec, "suspend");
  view.replaces_failed_only = find_string(spec, "podReplacementPolicy") == "Failed";
  view.manual_selector = find_true(spec, "manualSelector");
  view.managed_by = find_string(spec, "managedBy");
  const Json& pods = part_of(part_of(spec, "template"), "spec");
  view.restarts_on_failure = find_string(pods, "restartPolicy") == "OnFailure";
  view.pods_name_group = find_set(pods, "schedulingGroup") != nullptr;
  view.pod_group = find_string(part_of(pods, "schedulingGroup"), "podGroupName");
  view.priority_class = find_string(pods, "priorityClassName");
  view.says_scheduling = find_set(spec, "scheduling") != nullptr;
  const Json& scheduling = part_of(part_of(spec, "scheduling"), "schedulingPolicy");
  view.gang_minimum = int32_at(part_of(scheduling, "gang"), "minCount");
  if (auto selector = read_label_selector(find(spec, "selector")))
    view.selector = *std::move(selector);
  if (const Json* policy = find_set(spec, "podFailurePolicy")) {
    view.judges_failures = true;
    for (const Json& rule : elements(*policy, "rules"))
      view.failure_rules.push_back(read_failure_rule(rule));
  }
  for (const Json& rule : elements(part_of(spec, "successPolicy"), "rules"))
    view.success_rules.push_back(
        {.indexes = text_at(rule, "succeededIndexes"), .count = int32_at(rule, "succeededCount")});
}

std::vector<std::string> texts_at(const Json& holder, std::string_view member) {
  std::vector<std::string> out;
  for (const Json& text : elements(holder, member)) out.emplace_back(text_of(text));
  return out;
}

void read_status(const Json& document, JobView::Status& out) {
  const Json& status = part_of(document, "status");
  out.active = int32_at(status, "active").value_or(0);
  out.succeeded = int32_at(status, "succeeded").value_or(0);
  out.failed = int32_at(status, "failed").value_or(0);
  out.ready = int32_at(status, "ready");
  out.terminating = int32_at(status, "terminating");
  out.completed_indexes = find_string(status, "completedIndexes");
  out.failed_indexes = text_at(status, "failedIndexes");
  const Json& uncounted = part_of(status, "uncountedTerminatedPods");
  out.uncounted_succeeded = texts_at(uncounted, "succeeded");
  out.uncounted_failed = texts_at(uncounted, "failed");
  out.start_time = parse_time(find_string(status, "startTime"));
  out.completion_time = parse_time(find_string(status, "completionTime"));
  for (Condition& condition : read_conditions(document))
    out.conditions.push_back({std::move(condition), std::nullopt});
  const JsonArray& entries = elements(status, "conditions");
  for (std::size_t i = 0; i < out.conditions.size(); ++i)
    out.conditions[i].last_transition = parse_time(find_string(entries[i], "lastTransitionTime"));
}

}  // namespace

std::string_view action_name(PodFailureRule::Action action) {
  for (const auto& [name, value] : kActions)
    if (value == action) return name;
  return "";
}

std::unique_ptr<JobView> JobView::read(const Object& job) { return of(job.document()); }

std::unique_ptr<JobView> JobView::of(const Json& document) {
  auto view = std::make_unique<JobView>();
  read_spec(part_of(document, "spec"), *view);
  read_status(document, view->status);
  return view;
}

const JobCondition* JobView::condition(std::string_view type) const {
  for (const JobCondition& condition : status.conditions)
    if (condition.type == type) return &condition;
  return nullptr;
}

bool JobView::is_true(std::string_view type) const {
  const JobCondition* found = condition(type);
  return found != nullptr && found->status == "True";
}

}  // namespace muster::api
