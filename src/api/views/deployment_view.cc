#include "api/views/deployment_view.h"

#include <algorithm>
#include <limits>

#include "api/reading.h"
#include "api/scratch.h"
#include "api/selectors.h"
#include "api/views/replica_set_view.h"

namespace muster::api {
namespace {

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int32_t>::max();

DeploymentCondition read_condition(const Json& from) {
  DeploymentCondition condition;
  condition.type = find_string(from, "type");
  condition.status = find_string(from, "status");
  condition.reason = find_string(from, "reason");
  condition.message = find_string(from, "message");
  condition.last_update = parse_time(find_string(from, "lastUpdateTime"));
  condition.last_transition = parse_time(find_string(from, "lastTransitionTime"));
  return condition;
}

void read_status(const Json& status, DeploymentView::Status& out) {
  const auto number = [&](std::string_view member) {
    return find_integer(status, member).value_or(0);
  };
  out.observed_generation = number("observedGeneration");
  out.replicas = number("replicas");
  out.updated = number("updatedReplicas");
  out.ready = number("readyReplicas");
  out.available = number("availableReplicas");
  out.unavailable = number("unavailableReplicas");
  out.terminating = find_integer(status, "terminatingReplicas");
  out.collisions = find_integer(status, "collisionCount");
  for (const Json& condition : elements(status, "conditions"))
    out.conditions.push_back(read_condition(condition));
}

}  // namespace

bool DeploymentCondition::operator==(const DeploymentCondition& other) const {
  return type == other.type && status == other.status && reason == other.reason &&
         message == other.message && last_update == other.last_update &&
         last_transition == other.last_transition;
}

const DeploymentCondition* DeploymentView::Status::condition(std::string_view type) const {
  const auto at = std::ranges::find(conditions, type, &DeploymentCondition::type);
  return at == conditions.end() ? nullptr : &*at;
}

std::unique_ptr<DeploymentView> DeploymentView::read(const Object& deployment) {
  Scratch scratch;
  const Json document = members_in(scratch, deployment, {"spec", "status"});
  const Json& spec = part_of(document, "spec");
  auto view = std::make_unique<DeploymentView>();
  view->replicas = find_integer(spec, "replicas").value_or(1);
  view->min_ready = std::chrono::seconds{find_integer(spec, "minReadySeconds").value_or(0)};
  if (auto selector = read_label_selector(find(spec, "selector")))
    view->selector = *std::move(selector);
  view->template_text = comparable_template(part_of(spec, "template"));
  const Json& strategy = part_of(spec, "strategy");
  view->recreates = find_string(strategy, "type") == "Recreate";
  const Json& rolling = part_of(strategy, "rollingUpdate");
  constexpr IntOrPercent kQuarter{.value = 25, .percent = true};
  view->max_surge = read_int_or_percent(rolling, "maxSurge", kQuarter);
  view->max_unavailable = read_int_or_percent(rolling, "maxUnavailable", kQuarter);
  view->paused = find_true(spec, "paused");
  if (const auto limit = find_integer(spec, "revisionHistoryLimit");
      limit.value_or(kUnlimited) != kUnlimited)
    view->history_limit = limit;
  if (const auto deadline = find_integer(spec, "progressDeadlineSeconds");
      deadline.value_or(kUnlimited) != kUnlimited)
    view->progress_deadline = std::chrono::seconds{*deadline};
  read_status(part_of(document, "status"), view->status);
  return view;
}

}  // namespace muster::api
