#include "controllers/replicaset/replica_set_status.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "api/reading.h"
#include "controllers/common/pod_facts.h"
#include "controllers/common/status_request.h"

namespace muster::controllers {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

constexpr std::string_view kFailure = "ReplicaFailure";

bool has_labels(const api::Object& pod, const api::StringPairs& wanted) {
  return std::ranges::includes(pod.meta().labels, wanted);
}

// Conditions of other types stay as they are; one that has not changed keeps its time and message.
JsonArray conditions_of(const Json& old, const std::optional<api::Condition>& failure, Time now) {
  JsonArray out;
  bool kept = false;
  for (const Json& condition : api::elements(old, "conditions")) {
    if (api::find_string(condition, "type") != kFailure) {
      out.push_back(condition);
    } else if (failure && api::find_string(condition, "reason") == failure->reason) {
      out.push_back(condition);
      kept = true;
    }
  }
  if (failure && !kept)
    out.push_back(JsonObject{{"type", kFailure},
                             {"status", "True"},
                             {"lastTransitionTime", format_time(now)},
                             {"reason", failure->reason},
                             {"message", failure->message}});
  return out;
}

}  // namespace

ReplicaSetStatus replica_set_status(const api::Object& set, const std::vector<api::ObjectPtr>& pods,
                                    const std::optional<api::Condition>& failure, Time now) {
  const auto& view = set.view<api::ReplicaSetView>();
  ReplicaSetStatus out;
  out.failure = failure;
  out.counts.terminating = 0;
  out.counts.observed_generation = set.meta().generation;
  for (const api::ObjectPtr& pod : pods) {
    if (is_terminating(*pod)) ++*out.counts.terminating;
    if (!is_active(*pod)) continue;
    ++out.counts.replicas;
    if (has_labels(*pod, view.template_labels)) ++out.counts.fully_labeled;
    if (!is_ready(pod->view<api::PodView>())) continue;
    ++out.counts.ready;
    const std::optional<Time> available = available_at(*pod, view.min_ready);
    if (available && *available <= now)
      ++out.counts.available;
    else if (available)
      out.again = out.again ? std::min(*out.again, *available) : *available;
  }
  return out;
}

std::optional<api::Request> replica_set_status_request(const api::Object& set,
                                                       const ReplicaSetStatus& status, Time now) {
  const auto& view = set.view<api::ReplicaSetView>();
  const bool same_failure = view.failure.has_value() == status.failure.has_value() &&
                            (!view.failure || view.failure->reason == status.failure->reason);
  if (view.status == status.counts && same_failure) return std::nullopt;
  const Json document = set.document();
  const Json& old = api::part_of(document, "status");
  JsonObject out = api::members(document, "status");
  out["replicas"] = status.counts.replicas;
  put_count(out, "fullyLabeledReplicas", status.counts.fully_labeled);
  put_count(out, "readyReplicas", status.counts.ready);
  put_count(out, "availableReplicas", status.counts.available);
  if (status.counts.terminating) out["terminatingReplicas"] = *status.counts.terminating;
  put_count(out, "observedGeneration", status.counts.observed_generation);
  JsonArray conditions = conditions_of(old, status.failure, now);
  if (conditions.empty())
    out.erase("conditions");
  else
    out["conditions"] = std::move(conditions);
  return replace_status_request(set, std::move(out));
}

}  // namespace muster::controllers
