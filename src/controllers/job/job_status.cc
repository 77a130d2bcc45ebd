#include "controllers/job/job_status.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/reading.h"
#include "controllers/common/status_request.h"

namespace muster::controllers {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

void put_time(JsonObject& status, std::string_view member, std::optional<Time> value) {
  if (value)
    status[member] = format_time(*value);
  else
    status.erase(member);
}

JsonArray texts(const std::vector<std::string>& values) {
  return JsonArray(values.begin(), values.end());
}

// Conditions that have not changed stay as they are, with members that only others know.
JsonArray conditions_of(const std::vector<api::JobCondition>& conditions, const Json& old,
                        Time now) {
  JsonArray out;
  for (const api::JobCondition& condition : conditions) {
    const Json* same = nullptr;
    for (const Json& each : api::elements(old, "conditions"))
      if (api::find_string(each, "type") == condition.type &&
          api::find_string(each, "status") == condition.status &&
          api::find_string(each, "reason") == condition.reason &&
          api::find_string(each, "message") == condition.message)
        same = &each;
    if (same != nullptr) {
      out.push_back(*same);
      continue;
    }
    out.push_back(JsonObject{{"type", condition.type},
                             {"status", condition.status},
                             {"lastProbeTime", format_time(now)},
                             {"lastTransitionTime", format_time(now)},
                             {"reason", condition.reason},
                             {"message", condition.message}});
  }
  return out;
}

}  // namespace

api::Request status_request(const api::Object& job, const api::JobView::Status& status, Time now) {
  const Json document = job.document();
  const Json& old = api::part_of(document, "status");
  JsonObject out = api::members(document, "status");
  out["conditions"] = conditions_of(status.conditions, old, now);
  put_time(out, "startTime", status.start_time);
  put_time(out, "completionTime", status.completion_time);
  put_count(out, "active", status.active);
  put_count(out, "succeeded", status.succeeded);
  put_count(out, "failed", status.failed);
  if (status.ready) out["ready"] = *status.ready;
  if (status.terminating) out["terminating"] = *status.terminating;
  if (status.completed_indexes.empty())
    out.erase("completedIndexes");
  else
    out["completedIndexes"] = status.completed_indexes;
  if (status.failed_indexes) out["failedIndexes"] = *status.failed_indexes;
  JsonObject uncounted;
  if (!status.uncounted_succeeded.empty())
    uncounted["succeeded"] = texts(status.uncounted_succeeded);
  if (!status.uncounted_failed.empty()) uncounted["failed"] = texts(status.uncounted_failed);
  out["uncountedTerminatedPods"] = std::move(uncounted);
  return replace_status_request(job, std::move(out));
}

}  // namespace muster::controllers
