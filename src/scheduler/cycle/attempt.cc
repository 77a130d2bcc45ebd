#include "scheduler/cycle/attempt.h"

#include "base/check.h"

namespace muster::scheduler {

Plan attempt(ClusterModel& model, const GroupKey& root) {
  CHECK(model.runnable(root));
  const Group tree = model.build(root);
  model.count_nominated(tree);
  return attempt_group(tree, model.cluster(), model.profile_of(tree));
}

Plan attempt(ClusterModel& model, const api::ObjectPtr& lone_pod) {
  const Time created = lone_pod->meta().creation_time.value_or(Time{});
  const PendingPod pending{.pod = lone_pod,
                           .attempts = 0,
                           .queued_at = created,
                           .nominated = model.nominations().node_of(lone_pod->meta().uid)};
  model.count_nominated(pending);
  return attempt_pod(pending, model.cluster(), model.profile_of(*lone_pod));
}

}  // namespace muster::scheduler
