#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/object.h"
#include "api/views/daemon_set_view.h"
#include "client/kit/mirror.h"
#include "controllers/daemonset/daemon_pods.h"

namespace muster::controllers {

// What to do about a DaemonSet right now.
struct DaemonPlan {
  std::vector<std::string> create;     // nodes that need a pod
  std::vector<api::ObjectPtr> remove;  // pods
  std::vector<api::ObjectPtr> ended;   // of those, the ones that failed or succeeded
  api::DaemonSetView::Status status;
  std::optional<Time> again;  // when one more pod becomes available, or a failed one may go
};

struct DaemonState {
  const api::Object& set;
  const DaemonPods& pods;                       // as its newest template makes them
  const std::vector<api::ObjectPtr>& existing;  // that it controls
  const client::Mirror::Entries& nodes;
  Time now;
  // When the pod of a node that failed may be replaced.
  std::function<Time(const std::string& node)> retry_at;
};

DaemonPlan plan_daemons(const DaemonState& state);

}  // namespace muster::controllers
