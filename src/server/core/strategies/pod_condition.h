#pragma once

#include <string_view>

#include "api/json.h"
#include "base/time.h"

namespace muster::server {

struct PodCondition {
  std::string_view type;
  std::string_view status;
  std::string_view reason = {};
  std::string_view message = {};
};

// Sets a condition of a pod's status, in its place or at the end. lastTransitionTime is `now` if
// the status changes, otherwise what it was.
void set_pod_condition(api::Json& pod, const PodCondition& condition, Time now);
void remove_pod_condition(api::Json& pod, std::string_view type);

}  // namespace muster::server
