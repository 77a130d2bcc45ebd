#include "server/core/strategies/pod_condition.h"

#include <algorithm>

#include "server/core/strategies/document.h"

namespace muster::server {

void set_pod_condition(Json& pod, const PodCondition& condition, Time now) {
  JsonArray& conditions =
      api::ensure_array(api::ensure_object(pod.get_object(), "status"), "conditions");
  JsonObject fresh{{"type", condition.type},
                   {"status", condition.status},
                   {"lastTransitionTime", format_time(now)}};
  if (!condition.reason.empty()) fresh["reason"] = condition.reason;
  if (!condition.message.empty()) fresh["message"] = condition.message;

  const auto at = std::ranges::find_if(conditions, [&](const Json& standing) {
    return api::find_string(standing, "type") == condition.type;
  });
  if (at == conditions.end()) {
    conditions.push_back(std::move(fresh));
    return;
  }
  if (api::find_string(*at, "status") == condition.status)
    copy_member(fresh, *at, "lastTransitionTime");
  *at = std::move(fresh);
}

void remove_pod_condition(Json& pod, std::string_view type) {
  JsonArray& conditions =
      api::ensure_array(api::ensure_object(pod.get_object(), "status"), "conditions");
  const auto left = std::ranges::remove_if(
      conditions, [&](const Json& standing) { return api::find_string(standing, "type") == type; });
  conditions.erase(left.begin(), left.end());
}

}  // namespace muster::server
