#include "controllers/jobset/set_status.h"

#include <algorithm>
#include <utility>

#include "api/reading.h"
#include "client/client.h"

namespace muster::controllers {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

bool same(const api::JobCondition& a, const api::JobCondition& b) {
  return a.type == b.type && a.status == b.status && a.reason == b.reason && a.message == b.message;
}

// Conditions that have not changed stay as they are; the time follows the status alone.
JsonArray conditions_of(const std::vector<api::JobCondition>& conditions, Time now) {
  JsonArray out;
  for (const api::JobCondition& condition : conditions)
    out.push_back(
        JsonObject{{"type", condition.type},
                   {"status", condition.status},
                   {"lastTransitionTime", format_time(condition.last_transition.value_or(now))},
                   {"reason", condition.reason},
                   {"message", condition.message}});
  return out;
}

JsonObject counts_of(const api::JobSetView::JobStatus& status) {
  JsonObject out{{"name", status.name},           {"ready", status.ready},
                 {"succeeded", status.succeeded}, {"failed", status.failed},
                 {"active", status.active},       {"suspended", status.suspended}};
  if (!status.restarts.empty())
    out["jobRestarts"] = JsonArray(status.restarts.begin(), status.restarts.end());
  if (!status.counted_restarts.empty())
    out["jobRestartsCountTowardsMax"] =
        JsonArray(status.counted_restarts.begin(), status.counted_restarts.end());
  return out;
}

}  // namespace

bool SetStatus::set(std::string_view type, bool holds, std::string_view reason,
                    std::string_view message) {
  auto found = std::ranges::find(status_.conditions, type, &api::JobCondition::type);
  if (found == status_.conditions.end()) {
    api::JobCondition fresh;
    fresh.type = type;
    found = status_.conditions.insert(found, std::move(fresh));
  }
  const std::string_view wanted = holds ? "True" : "False";
  const bool turned = found->status != wanted;
  if (turned) found->last_transition.reset();
  found->status = wanted;
  found->reason = reason;
  found->message = message;
  return turned;
}

void SetStatus::end(std::string_view type, std::string_view reason, std::string_view message) {
  if (holds(type)) set(type, false, reason, message);
}

bool SetStatus::holds(std::string_view type) const {
  const auto found = std::ranges::find(status_.conditions, type, &api::JobCondition::type);
  return found != status_.conditions.end() && found->status == "True";
}

void SetStatus::note(std::string_view type, std::string_view reason, std::string_view message) {
  notes_.push_back({std::string(type), std::string(reason), std::string(message)});
}

bool SetStatus::changed() const {
  return status_.restarts != before_.restarts ||
         status_.counted_restarts != before_.counted_restarts ||
         status_.terminal_state != before_.terminal_state || status_.jobs != before_.jobs ||
         !std::ranges::equal(status_.conditions, before_.conditions, same);
}

api::Request status_request(const api::Object& set, const api::JobSetView::Status& status,
                            Time now) {
  const Json document = set.document();
  JsonObject out = api::members(document, "status");
  out["conditions"] = conditions_of(status.conditions, now);
  out["restarts"] = status.restarts;
  if (status.counted_restarts > 0) out["restartsCountTowardsMax"] = status.counted_restarts;
  if (!status.terminal_state.empty()) out["terminalState"] = status.terminal_state;
  JsonArray jobs;
  for (const api::JobSetView::JobStatus& job : status.jobs) jobs.push_back(counts_of(job));
  out["replicatedJobsStatus"] = std::move(jobs);
  return client::patch_request(
      set.kind(), set.meta().name_space, set.meta().name, "status", api::PatchType::JsonPatch,
      JsonArray{JsonObject{{"op", "test"},
                           {"path", "/metadata/resourceVersion"},
                           {"value", std::to_string(set.revision().value)}},
                JsonObject{{"op", "add"}, {"path", "/status"}, {"value", std::move(out)}}});
}

}  // namespace muster::controllers
