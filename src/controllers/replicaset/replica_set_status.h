#pragma once

#include <optional>
#include <vector>

#include "api/object.h"
#include "api/request.h"
#include "api/views/condition.h"
#include "api/views/replica_set_view.h"
#include "base/time.h"

namespace muster::controllers {

// What a ReplicaSet should say about its pods.
struct ReplicaSetStatus {
  api::ReplicaSetView::Status counts;
  std::optional<api::Condition> failure;  // ReplicaFailure
  std::optional<Time> again;              // when one more pod becomes available, if none changes
};

// `pods`: those it controls; `failure`: why pods can be neither made nor deleted, if so.
ReplicaSetStatus replica_set_status(const api::Object& set, const std::vector<api::ObjectPtr>& pods,
                                    const std::optional<api::Condition>& failure, Time now);

// Null if the set says so already.
std::optional<api::Request> replica_set_status_request(const api::Object& set,
                                                       const ReplicaSetStatus& status, Time now);

}  // namespace muster::controllers
