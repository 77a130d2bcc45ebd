#include "api/views/job_set_view.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/reading.h"

namespace muster::api {
namespace {

using Action = JobSetView::Action;

constexpr std::array<std::pair<std::string_view, Action>, 5> kActions{
    {{"FailJobSet", Action::FailJobSet},
     {"RestartJobSet", Action::RestartJobSet},
     {"RestartJobSetAndIgnoreMaxRestarts", Action::RestartJobSetAndIgnoreMaxRestarts},
     {"RestartJob", Action::RestartJob},
     {"RestartJobAndIgnoreMaxRestarts", Action::RestartJobAndIgnoreMaxRestarts}}};

std::optional<std::int32_t> int32_of(const Json& value) {
  const std::optional<std::int64_t> number = integer_of(value);
  if (!number) return std::nullopt;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(*number, INT32_MIN, INT32_MAX));
}

std::int32_t int32_at(const Json& holder, std::string_view member, std::int32_t otherwise) {
  return int32_of(part_of(holder, member)).value_or(otherwise);
}

std::vector<std::string> texts_at(const Json& holder, std::string_view member) {
  std::vector<std::string> out;
  for (const Json& text : elements(holder, member)) out.emplace_back(text_of(text));
  return out;
}

std::vector<std::int32_t> numbers_at(const Json& holder, std::string_view member) {
  std::vector<std::int32_t> out;
  for (const Json& number : elements(holder, member)) out.push_back(int32_of(number).value_or(0));
  return out;
}

JobSetView::ReplicatedJob read_job(const Json& job) {
  const Json& spec = part_of(part_of(job, "template"), "spec");
  JobSetView::ReplicatedJob out{.name = std::string(find_string(job, "name"))};
  if (const std::string_view group = find_string(job, "groupName"); !group.empty())
    out.group = group;
  out.replicas = int32_at(job, "replicas", 1);
  out.parallelism = int32_at(spec, "parallelism", 1);
  out.completions = int32_of(part_of(spec, "completions"));
  for (const Json& dependency : elements(job, "dependsOn"))
    out.depends_on.push_back({.name = std::string(find_string(dependency, "name")),
                              .complete = find_string(dependency, "status") == "Complete"});
  return out;
}

JobSetView::FailurePolicy read_failure_policy(const Json& policy) {
  JobSetView::FailurePolicy out{.max_restarts = int32_at(policy, "maxRestarts", 0)};
  out.blocking = find_string(policy, "restartStrategy") == "BlockingRecreate";
  for (const Json& rule : elements(policy, "rules")) {
    JobSetView::FailureRule read{.name = std::string(find_string(rule, "name"))};
    for (const auto& [name, action] : kActions)
      if (find_string(rule, "action") == name) read.action = action;
    read.reasons = texts_at(rule, "onJobFailureReasons");
    read.message_patterns = texts_at(rule, "onJobFailureMessagePatterns");
    read.targets = texts_at(rule, "targetReplicatedJobs");
    out.rules.push_back(std::move(read));
  }
  return out;
}

bool says_scheduling(const Json& spec) {
  if (find_set(spec, "scheduling") != nullptr) return true;
  return std::ranges::any_of(elements(spec, "replicatedJobs"), [](const Json& job) {
    return find_set(part_of(part_of(job, "template"), "spec"), "scheduling") != nullptr;
  });
}

void read_spec(const Json& document, JobSetView& view) {
  const Json& spec = part_of(document, "spec");
  for (const Json& job : elements(spec, "replicatedJobs")) view.jobs.push_back(read_job(job));
  view.suspend = find_true(spec, "suspend");
  view.in_order = find_string(part_of(spec, "startupPolicy"), "startupPolicyOrder") == "InOrder";
  view.any_success = find_string(part_of(spec, "successPolicy"), "operator") == "Any";
  view.success_targets = texts_at(part_of(spec, "successPolicy"), "targetReplicatedJobs");
  if (const Json* policy = find_set(spec, "failurePolicy"))
    view.failure_policy = read_failure_policy(*policy);
  view.managed_by = find_string(spec, "managedBy");
  view.ttl_s = find_integer(spec, "ttlSecondsAfterFinished");
  const Json& network = part_of(spec, "network");
  const auto unless_false = [&](std::string_view member) {
    return find_set(network, member) == nullptr || find_true(network, member);
  };
  view.dns_hostnames = unless_false("enableDNSHostnames");
  view.publish_not_ready = unless_false("publishNotReadyAddresses");
  view.subdomain = find_string(network, "subdomain");
  if (view.subdomain.empty()) view.subdomain = find_string(part_of(document, "metadata"), "name");
  view.says_scheduling = says_scheduling(spec);
}

void read_status(const Json& status, JobSetView::Status& out) {
  for (const Json& condition : elements(status, "conditions")) {
    JobCondition read;
    read.type = find_string(condition, "type");
    read.status = find_string(condition, "status");
    read.reason = find_string(condition, "reason");
    read.message = find_string(condition, "message");
    read.last_transition = parse_time(find_string(condition, "lastTransitionTime"));
    out.conditions.push_back(std::move(read));
  }
  out.restarts = int32_at(status, "restarts", 0);
  out.counted_restarts = int32_at(status, "restartsCountTowardsMax", 0);
  out.terminal_state = find_string(status, "terminalState");
  for (const Json& job : elements(status, "replicatedJobsStatus"))
    out.jobs.push_back({.name = std::string(find_string(job, "name")),
                        .ready = int32_at(job, "ready", 0),
                        .succeeded = int32_at(job, "succeeded", 0),
                        .failed = int32_at(job, "failed", 0),
                        .active = int32_at(job, "active", 0),
                        .suspended = int32_at(job, "suspended", 0),
                        .restarts = numbers_at(job, "jobRestarts"),
                        .counted_restarts = numbers_at(job, "jobRestartsCountTowardsMax")});
}

}  // namespace

std::unique_ptr<JobSetView> JobSetView::read(const Object& set) { return of(set.document()); }

std::unique_ptr<JobSetView> JobSetView::of(const Json& document) {
  auto view = std::make_unique<JobSetView>();
  read_spec(document, *view);
  read_status(part_of(document, "status"), view->status);
  return view;
}

const JobSetView::ReplicatedJob* JobSetView::job(std::string_view name) const {
  const auto found = std::ranges::find(jobs, name, &ReplicatedJob::name);
  return found == jobs.end() ? nullptr : &*found;
}

const JobCondition* JobSetView::condition(std::string_view type) const {
  const auto found = std::ranges::find(status.conditions, type, &JobCondition::type);
  return found == status.conditions.end() ? nullptr : &*found;
}

bool JobSetView::is_true(std::string_view type) const {
  const JobCondition* found = condition(type);
  return found != nullptr && found->status == "True";
}

bool JobSetView::starts_in_turn() const {
  return in_order || std::ranges::any_of(
                         jobs, [](const ReplicatedJob& job) { return !job.depends_on.empty(); });
}

std::string_view action_name(JobSetView::Action action) {
  for (const auto& [name, value] : kActions)
    if (value == action) return name;
  return "";
}

}  // namespace muster::api
